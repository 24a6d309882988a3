"""Dynamics of robots whose base floats, written for the base and the joints apart (Featherstone, sections 9.3-9.5)."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
