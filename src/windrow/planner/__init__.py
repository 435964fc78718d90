"""Choosing a pattern, and explaining the choice."""
