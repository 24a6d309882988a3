"""Surgery makes many models that are asked one question each, so these tests interpret instead of compiling."""

from __future__ import annotations

import pytest

import kinetree as kt


@pytest.fixture(autouse=True)
def without_compiling():
    """The same lines as the compiled ones, without the wait."""
    with kt.interpreted():
        yield
