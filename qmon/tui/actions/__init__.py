"""Actions on the screens: the requests of actions, the dialog, and the reasons why keys are disabled."""
