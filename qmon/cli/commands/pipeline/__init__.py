"""The commands of ``qmon pipeline`` and their output."""
