"""Dynamics beyond the main calls: parts of the forces, inverse mass matrix, articulated bodies, other algorithms."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
