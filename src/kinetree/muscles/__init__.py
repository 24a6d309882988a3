"""Muscles: curves of force over length and velocity, equilibrium of fiber and tendon, activation; over any scalar."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
