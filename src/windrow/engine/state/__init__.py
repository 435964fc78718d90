"""State of workers, and the log it is stored in."""
