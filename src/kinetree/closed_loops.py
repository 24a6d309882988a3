"""Mechanisms with closed loops: projection of states, and the quantities of the constrained mechanism."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
