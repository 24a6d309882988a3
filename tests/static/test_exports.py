"""What a module says it exports exists, once."""

from __future__ import annotations

import importlib

import pytest

import kinetree
from tests.static.source_tree import module_name, package_files

MODULES = [module_name(path) for path in package_files() if path.name != "__main__.py"]


@pytest.mark.parametrize("name", MODULES)
def test_exports_exist_and_are_unique(name):
    """Every name in ``__all__`` can be had from its module, and stands there once."""
    module = importlib.import_module(name)
    exported = list(getattr(module, "__all__", ()))
    assert len(exported) == len(set(exported))
    missing = [entry for entry in exported if not hasattr(module, entry)]
    assert not missing


def test_the_public_face_is_declared():
    """kinetree declares its public names, among them those of the README, and ``dir`` lists them all."""
    assert {"load", "rnea", "crba", "aba", "compile", "simulate"} <= set(kinetree.__all__)
    assert set(kinetree.__all__) <= set(dir(kinetree))


def test_an_unknown_public_name_is_an_attribute_error():
    """A misspelled name fails where it is written, also with lazily imported names."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = kinetree.no_such_name
