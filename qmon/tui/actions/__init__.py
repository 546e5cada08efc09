"""Acting from the screens: what is asked for, the threads that do it, the dialog."""
