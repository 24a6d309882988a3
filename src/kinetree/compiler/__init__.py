"""Compiled functions of a model: calls with arrays, derivatives, fused functions."""
