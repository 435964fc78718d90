"""What is computed of windows that have fired."""
