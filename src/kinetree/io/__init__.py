"""Robots from files. Conventions of other formats are converted here and nowhere else."""

from kinetree.io.lint import lint
from kinetree.io.load import load
from kinetree.io.save import save
from kinetree.io.urdf import load_urdf
from kinetree.io.write_mjcf import to_mjcf
from kinetree.io.write_urdf import to_urdf

__all__ = ["lint", "load", "load_urdf", "save", "to_mjcf", "to_urdf"]
