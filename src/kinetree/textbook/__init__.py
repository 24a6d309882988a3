"""Algorithms in other formulations of the literature: for reading, teaching and verification."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
