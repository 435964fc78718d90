"""Chooses a pattern and explains the choice."""
