"""Actions on the screens: the requests, the dialog, and when keys are disabled."""
