"""Accuracy of a model's dynamics, by comparison with extended precision."""
