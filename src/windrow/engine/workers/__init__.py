"""Workers: each owns the window state of the tuples it receives."""
