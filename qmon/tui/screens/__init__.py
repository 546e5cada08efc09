"""The screens. To add one: a module with a ``DashboardScreen``, and an entry in ``catalogue.ENTRIES``."""
