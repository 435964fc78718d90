"""Windows of a worker: placing tuples, the buffer, and which windows fire."""
