"""Columns: how values are held, seen, numbered and typed."""
