"""Algorithms compiled for a model: functions on arrays, of one quantity or several; derivatives, packed results."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
