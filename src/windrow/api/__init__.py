"""The queries and joins that a user builds."""
