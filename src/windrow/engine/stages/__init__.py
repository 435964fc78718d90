"""Stages: emitters, workers and collectors, and the messages between them."""
