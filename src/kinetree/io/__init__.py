"""Readers, writers and lint of URDF, MJCF and SDF; conventions of formats are converted here and nowhere else."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
