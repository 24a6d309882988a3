"""Robots from files. Conventions of other formats are converted here and nowhere else."""

from kinetree.io.load import load
from kinetree.io.urdf import load_urdf

__all__ = ["load", "load_urdf"]
