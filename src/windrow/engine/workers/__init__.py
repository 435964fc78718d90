"""Workers: they own the window state of what they receive."""
