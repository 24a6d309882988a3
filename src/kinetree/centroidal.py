"""The center of mass and the momentum about it."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
