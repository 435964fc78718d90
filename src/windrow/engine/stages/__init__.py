"""The stage list: emitters, workers and collectors, and the messages between them."""
