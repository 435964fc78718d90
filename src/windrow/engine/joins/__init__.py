"""Window joins of two streams."""
