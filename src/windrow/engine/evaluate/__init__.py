"""Evaluation of fired windows."""
