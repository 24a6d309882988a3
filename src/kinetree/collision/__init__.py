"""Collision: shapes, candidate pairs of a model, and the laws of simple pairs over any scalar."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
