"""The engine: plain Python over Arrow, no Spark."""
