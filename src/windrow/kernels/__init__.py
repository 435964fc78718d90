"""Columnar algorithms: reductions over ranges of ordered tuples or panes (NumPy, Numba)."""
