"""What a user builds: queries and joins."""
