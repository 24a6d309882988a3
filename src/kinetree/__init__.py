"""kinetree: rigid-body dynamics, written as the book writes it and compiled for your own robot.

>>> import kinetree as kt, numpy as np
>>> arm = kt.load("arm7")
>>> q, v = arm.neutral(), np.zeros(arm.nv)
>>> M = kt.crba(arm, q)
>>> a = kt.aba(arm, q, v, np.zeros(arm.nv))
"""

from __future__ import annotations

from kinetree import algorithms as _algorithms  # register every algorithm
from kinetree import constraints, data, errors, forces, joints, liegroup, spatial
from kinetree import textbook as _textbook
from kinetree.algorithms.assembly_tree import assembly_tree
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.derivative_functions import differentiate
from kinetree.compiler.factorization import Factorization, factorize
from kinetree.compiler.function import Function, compile
from kinetree.compiler.handles import ArticulatedBody, articulated_inertia, articulated_inverse_inertia
from kinetree.compiler.interpret import interpreted
from kinetree.compiler.packed import packed
from kinetree.errors import KinetreeError
from kinetree.io.dh import DHRow, DHTable, dh
from kinetree.io.dh_extract import to_dh
from kinetree.io.lint.lint import lint
from kinetree.io.load import load
from kinetree.io.mjcf.write import to_mjcf
from kinetree.io.save import save
from kinetree.io.urdf.write import to_urdf
from kinetree.model import Model, ModelBuilder
from kinetree.model import library as models
from kinetree.model.graph import MechanismGraph
from kinetree.model.inertial_parameters import inertial_parameters, with_inertial_parameters
from kinetree.model.mechanism import MechanismBuilder
from kinetree.simulation import (
    Event,
    Motor,
    Rollout,
    Simulation,
    Snapshot,
    Trajectory,
    controllers,
    rollout,
    signals,
    simulate,
)
from kinetree.verification import verify

__version__ = "0.1.0"

# Calls on arrays, compiled for the model on first use: rnea, crba, aba and all other algorithms.
_CALLS = frozenset(ALGORITHMS)
# Functions from modules that are loaded when they are first used.
_LATE = {"accuracy": "kinetree.analysis.accuracy"}

__all__ = sorted(
    [
        "DHRow",
        "DHTable",
        "ArticulatedBody",
        "Event",
        "Factorization",
        "Function",
        "KinetreeError",
        "MechanismBuilder",
        "MechanismGraph",
        "Model",
        "ModelBuilder",
        "Motor",
        "Rollout",
        "Simulation",
        "Snapshot",
        "Trajectory",
        "articulated_inertia",
        "articulated_inverse_inertia",
        "assembly_tree",
        "compile",
        "constraints",
        "conventions",
        "controllers",
        "data",
        "dh",
        "differentiate",
        "errors",
        "export",
        "factorize",
        "forces",
        "geometry",
        "identify",
        "inertial_parameters",
        "interpreted",
        "joints",
        "liegroup",
        "lint",
        "load",
        "models",
        "packed",
        "rollout",
        "save",
        "signals",
        "simulate",
        "spatial",
        "surgery",
        "to_dh",
        "to_mjcf",
        "to_urdf",
        "verify",
        "viz",
        "with_inertial_parameters",
        *_LATE,
        *_CALLS,
    ]
)

del _algorithms, _textbook


def __getattr__(name: str):
    import importlib

    if name in _CALLS:
        from kinetree.compiler.calls import public_call

        return globals().setdefault(name, public_call(name))
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in ("conventions", "export", "geometry", "identify", "surgery", "viz"):  # loaded when they are first used
        return importlib.import_module(f"kinetree.{name}")
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
