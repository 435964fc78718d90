"""Functions for ``foreachBatch`` that write the results of a stream to tables."""
