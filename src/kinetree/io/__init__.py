"""Readers, writers and lint of URDF, MJCF and SDF; conventions of formats are converted here and nowhere else."""

from kinetree.io.lint.lint import lint
from kinetree.io.load import load
from kinetree.io.mjcf.write import to_mjcf
from kinetree.io.save import save
from kinetree.io.urdf.read import load_urdf
from kinetree.io.urdf.write import to_urdf

__all__ = ["Isolation", "lint", "load", "load_mjcf", "load_sdf", "load_urdf", "save", "to_mjcf", "to_urdf"]


def __getattr__(name: str):
    if name in ("load_mjcf", "load_sdf"):  # imported when a file asks for them
        import importlib

        return getattr(importlib.import_module(f"kinetree.io.{name.removeprefix('load_')}.read"), name)
    if name == "Isolation":
        from kinetree.io.isolated import Isolation

        return Isolation
    raise AttributeError(f"module 'kinetree.io' has no attribute {name!r}")
