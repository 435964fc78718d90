"""The engine: everything between tuples and results, over Arrow and without Spark."""
