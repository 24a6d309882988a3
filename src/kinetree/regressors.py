"""Matrices by which forces, energies and momenta are linear in the inertial parameters."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
