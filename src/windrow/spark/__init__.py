"""Queries over Spark DataFrames; the only part that imports PySpark."""
