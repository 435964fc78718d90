"""Datasets: files and tables that are read piece by piece, in this process or in Spark's tasks."""
