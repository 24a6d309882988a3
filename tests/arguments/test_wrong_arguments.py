"""Every public callable with every argument of a wrong kind: the search for errors that name nothing."""

from __future__ import annotations

import importlib
import types

import pytest

import kinetree as kt
from kinetree.arguments import array, number, whole
from kinetree.errors import ArgumentError
from tests.arguments import calls_methods
from tests.arguments.calls import WRONG, outcome, verdict

APART = {
    "collision.contact_axes": "of a vector over any scalar",
    "spatial.": "value classes over any scalar, traced ones included: nothing of them is looked at",
    "errors.": "raised, not called",
    "model.": "plain data: what is made of it is looked at, by the builders and by Model",
    "deformables.ElementLaw": "a base class",
    "contact.least_constraint": "needs a package that tests may not have",
    "deformables.read_mesh": "needs a package that tests may not have",
    "forces.ForceElement": "a base class",
    "forces.JointForce": "a base class",
    "muscles.Curve": "a base class",
    "muscles.VelocityCurve": "a base class",
    "forces.norm": "of vectors over any scalar, within laws",
    "integrators.ExplicitRungeKutta": "made by name, by simulate",
    "integrators.RungeKutta4": "made by name, by simulate",
    "integrators.SemiImplicitEuler": "made by name, by simulate",
    "integrators.System": "made by simulate",
    "integrators.explicit_method": "called by simulate",
    "io.load_": "readers of kt.load, which looks at the arguments",
    "io.Isolation": "made by kt.load",
    "export.to_casadi": "needs a package that tests may not have",
    "export.to_jax": "needs a package that tests may not have",
    "export.to_torch": "needs a package that tests may not have",
    "simulation.rollout_to_": "needs a package that tests may not have",
}
MADE = {
    "collision.ContactChange",
    "collision.ContactPoint",
    "collision.ContactRates",
    "collision.Distances",
    "collision.Manifold",
    "collision.MinimalContactSet",
    "collision.Overlaps",
    "contact.ContactSolution",
    "contact.JointFrictionStep",
    "contact.LCPSolution",
    "contact.LeastConstraint",
    "contact.Residuals",
    "contact.StepProblem",
    "deformables.CoupledRun",
    "deformables.DeformableGradient",
    "closed_loops.Linearization",
    "contact.Collision",
    "contact.ContactAccelerations",
    "contact.Impact",
    "closed_loops.TorqueFamily",
    "control.LoadPosition",
    "control.OptimalMotion",
    "control.SampledMotions",
    "control.SamplingReport",
    "dynamics.ArticulatedBody",
    "dynamics.Factorization",
    "environments.State",
    "compiler.Function",
    "MechanismBuilder",
    "Model",
    "scenes.SceneRun",
    "simulation.RolloutGradient",
    "simulation.Snapshot",
    "Trajectory",
    "identify.BaseParameters",
    "identify.Identification",
    "control.InverseKinematics",
    "control.InverseKinematicsBatch",
    "control.LinearQuadraticRegulator",
    "maximal_coordinates.Equation",
    "redmax.Constrained",
    "maximal_coordinates.MaximalSystem",
    "maximal_coordinates.Solution",
    "maximal_coordinates.Step",
    "surgery.Simplification",
    "sweeps.Batch",
    "sweeps.Failure",
    "sweeps.SweepRun",
    "viz.JointKind",
}
"""Results that the library makes, and what is left: no entry of their own; their methods have (`calls_methods`)."""
TABLES = (
    "calls",
    "calls_control",
    "calls_values",
    "calls_rest",
    "calls_methods",
    "calls_engines",
    "calls_closed_loops",
    "calls_two_arms",
    "calls_deformables",
    "calls_piles",
    "calls_impacts",
    "calls_maximal",
    "calls_collision",
    "calls_environments",
    "calls_predictive_control",
    "calls_sweeps",
    "calls_contact",
)  # fmt: skip
"""Modules with one valid call of each callable."""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    tables = [importlib.import_module(f"tests.arguments.{name}").table(folder) for name in TABLES]
    return {name: entry for each in tables for name, entry in each.items()}


def public() -> set[str]:
    """Names of the callables of kinetree and of its public modules."""
    found = {name for name in kt.__all__ if callable(getattr(kt, name))}
    shorter = [getattr(kt, name) for name in found]  # what is there needs no second entry
    for name in kt.__all__:
        x = getattr(kt, name)
        if not isinstance(x, types.ModuleType):
            continue
        own = [k for k, y in vars(x).items() if not k.startswith("_") and getattr(y, "__module__", "") == x.__name__]
        found |= {
            f"{name}.{k}" for k in getattr(x, "__all__", own) if callable(y := getattr(x, k)) and y not in shorter
        }
    return found


def test_every_public_callable_is_searched(calls):
    """A callable that is added needs an entry in the table, or a reason to be apart."""
    missing = {name for name in public() if name not in calls and not name.startswith(tuple(APART))}
    assert missing == MADE


def test_every_public_method_is_searched(calls):
    """So does a method with arguments; a reason for a method that is gone goes with it."""
    methods = calls_methods.methods()
    assert {name for name in methods if name not in calls} == set(calls_methods.INNER)


def test_wrong_arguments_are_named(calls, tmp_path, monkeypatch):
    """All of them, interpreted: compiled calls have the same front."""
    monkeypatch.chdir(tmp_path)  # where a wrong path may be written to
    found = []
    for name, (call, given) in calls.items():
        with kt.interpreted():
            assert not outcome(call, given), name
            for argument in given:
                for kind, value in WRONG.items():
                    if bad := verdict(call, given, argument, value):
                        found.append(f"{name}({argument}={kind}): {bad}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("value", ["1", None, True, 1j, [1.0], b"1", float("nan"), float("inf"), 2.0])
def test_numbers(value):
    """What is no number between the bounds is refused with the text that the caller gave."""
    with pytest.raises(ArgumentError, match="f: x is .*, expected a number up to 1"):
        number("f: x", value, "a number up to 1", most=1.0)


@pytest.mark.parametrize("value", ["1", None, True, 1.0, -1, 2**80])
def test_whole_numbers(value):
    """No floats, no truth values, nothing outside the bounds."""
    with pytest.raises(ArgumentError, match="f: n is"):
        whole("f: n", value, least=0)


@pytest.mark.parametrize("value", ["a", None, [1, [2]], [1j], [True], [[1.0, 2.0]]])
def test_arrays(value):
    """Real numbers, in the shape that is asked for."""
    with pytest.raises(ArgumentError, match="f: x is"):
        array("f: x", value, shape=(2,))
