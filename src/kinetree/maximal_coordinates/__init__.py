"""Maximal coordinates: bodies that move freely, and the constraints of all joints between them."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
