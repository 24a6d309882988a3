"""Packages of the extra ``sweep``, imported where they are needed."""

from __future__ import annotations

from importlib import import_module

from kinetree.errors import MissingDependencyError


def needed(package: str):
    """A package of the extra.

    Raises
    ------
    MissingDependencyError
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"sweep: this needs the package {package}: pip install dask distributed 'zarr>=3' xarray, or in a checkout "
            'of kinetree pip install ".[sweep]". client=False computes in this process.',
            package=package,
        ) from error
