"""Kinematics of all bodies and all frames at once, rates of Jacobians, products with Jacobians, coordinates."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
