"""Columns: storage, conversion, types, and the numbering of keys."""
