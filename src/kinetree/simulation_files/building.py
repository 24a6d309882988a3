"""Models, forces, controllers and starts of a simulation file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.collision.material import Ground
from kinetree.constraints import CONSTRAINTS
from kinetree.control.linear_quadratic import lqr
from kinetree.errors import KinetreeError
from kinetree.forces.registry import FORCES
from kinetree.integrators.methods import Adaptive
from kinetree.io.load import load
from kinetree.io.urdf.loop_file import constraints_of
from kinetree.io.urdf.loop_syntax import Tables
from kinetree.simulation.limits import LimitMonitor
from kinetree.simulation_files.references import reference_of
from kinetree.simulation_files.schema import CONTROLLERS, gains
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape


def model_of(file) -> tuple:
    """The model with its loops, constraints and forces, and components of its simulation.

    Parameters
    ----------
    file : SimulationFile
    """
    given = file.content["model"]
    options = {"file": given} if isinstance(given, str) else dict(given)
    name, limits, gravity = options.pop("file"), options.pop("limits", "soft"), options.pop("gravity", None)
    is_file = file.beside(name).exists() or Path(name).suffix
    source = file.beside(name) if is_file else name
    if "package_dirs" in options:
        options["package_dirs"] = [file.beside(folder) for folder in options["package_dirs"]]
    with file.blaming("model"):
        model = load(source, **options)
        if gravity is not None:
            model = model.replace(gravity=tuple(map(float, gravity)))
        model = model.without_limits() if limits == "ignore" else model
    if loops := file.content.get("loops"):
        tables = Tables({"loop": loops}, lambda kind, *rest: file.line_of("loops", *rest))
        with file.blaming("loops"):
            model = model.with_constraints(*(made for made, _ in constraints_of(file.path, tables)))
    for key, registry, add in (("constraints", CONSTRAINTS, "with_constraints"), ("forces", FORCES, "with_forces")):
        for k, entry in enumerate(file.content.get(key, ())):
            with file.blaming(key, k):
                model = getattr(model, add)(_element(registry, entry))
    return model, [LimitMonitor(model)] if limits == "raise" else []


def _element(registry: dict, entry: dict):
    """A force element or constraint."""
    values = {key: _value(key, value) for key, value in entry.items() if key != "kind"}
    return registry[entry["kind"]](**values)


def _value(key: str, value: object) -> object:
    """A value of a field; a path over points and joints is a tuple of them."""
    if key == "path":
        return tuple(_path_part(part) for part in value)
    return tuple(value) if isinstance(value, list) else value


_PARTS = {  # parts of a path by the entry that tells them; what they need, and what they may have
    "joint": ((), ("coefficient",), lambda at: JointTerm(at["joint"], at.get("coefficient", 1.0))),
    "pulley": ((), (), lambda at: Pulley(at["pulley"])),
    "wrap": (("frame", "radius"), ("side", "inside"), lambda at: WrapShape(at["wrap"], *_rest(at))),
    "frame": ((), ("at",), lambda at: ViaPoint(at["frame"], tuple(at.get("at", (0.0, 0.0, 0.0))))),
}


def _rest(at: dict) -> tuple:
    return at["frame"], at["radius"], at.get("side"), at.get("inside", False)


def _path_part(part: dict):
    """A part of a path: a point, a wrap shape, a pulley, or a joint."""
    word = next((word for word in _PARTS if word in part), None)
    needed, allowed, make = _PARTS.get(word, ((), (), None))
    if make is None or not {*needed} <= part.keys() <= {word, *needed, *allowed}:
        raise KinetreeError(
            f"path has the entry {part}, expected a frame with at, a wrap (sphere or cylinder) with frame, "
            "radius, side and inside, a pulley, or a joint with its coefficient."
        )
    return make(part)


def ground_of(file):
    """The ground, as `simulate` takes it.

    Parameters
    ----------
    file : SimulationFile
    """
    given = file.content.get("ground")
    with file.blaming("ground"):
        return Ground(**{key: _value(key, x) for key, x in given.items()}) if isinstance(given, dict) else given


def integrator_of(file):
    """The integrator, as `simulate` takes it.

    Parameters
    ----------
    file : SimulationFile
    """
    given = file.content.get("integrator", "auto")
    with file.blaming("integrator"):
        return Adaptive(**{key: x for key, x in given.items() if key != "kind"}) if isinstance(given, dict) else given


def start_of(file, model) -> dict:
    """Initial state, as arguments of `simulate`.

    Parameters
    ----------
    file : SimulationFile
    model : Model
    """
    given = file.content.get("initial", {})
    if "keyframe" in given and "seed" in given:
        raise file.fault(("initial", "seed"), "and initial.keyframe both give a start", "Leave one.")
    if "seed" in given:
        if more := [key for key in ("positions", "velocities") if key in given]:
            raise file.fault(("initial", more[0]), "and initial.seed both give a start", "Leave one.")
        return {"seed": given["seed"]}
    found: dict = {}
    bases: dict = {}
    if "keyframe" in given:
        with file.blaming("initial", "keyframe"):
            bases = dict(zip(("q", "v"), model.keyframe(given["keyframe"]), strict=True))
        found = {"q0": bases["q"], "v0": bases["v"]}
    for key, which in (("positions", "q"), ("velocities", "v")):
        if key in given:
            found[f"{which}0"] = state(file, ("initial", key), model, which, bases.get(which))
    return found


def state(file, path: tuple[str, ...], model, which: str, base: np.ndarray | None = None) -> np.ndarray:
    """Positions or velocities by names of joints, or all of them.

    Parameters
    ----------
    file : SimulationFile
    path : tuple of str
        Of the entry in the file.
    model : Model
    which : {"q", "v"}
    base : (nq,) or (nv,) array, optional
        Of the joints that are not named. Default: the neutral position, or zero.
    """
    given = file.content
    for part in path:
        given = given[part]
    size, slices = (model.nq, model.q_slice) if which == "q" else (model.nv, model.v_slice)
    if isinstance(given, list):
        if len(given) != size:
            raise file.fault(path, f"has {len(given)} numbers, expected {size}", _sizes(model, slices))
        return np.array(given, dtype=float)
    if base is None:
        base = model.neutral() if which == "q" else np.zeros(size)
    found = np.array(base, dtype=float)
    for name, value in given.items():
        with file.blaming(*path, name):
            at = slices[model.joint(name)]
            values = np.atleast_1d(np.asarray(value, dtype=float))
            if len(values) != at.stop - at.start:
                raise KinetreeError(f"has {len(values)} numbers, expected {at.stop - at.start}")
            found[at] = values
    return found


def _sizes(model, slices) -> str:
    counts = [f"{model.joint_name(i)} {s.stop - s.start}" for i, s in enumerate(slices) if i and s.stop > s.start]
    return f"In this order: {', '.join(counts[:12])}{', ...' if len(counts) > 12 else ''}."


def controller_of(file, model, q0):
    """The controller, or None.

    Parameters
    ----------
    file : SimulationFile
    model : Model
    q0 : (nq,) array
        The start, where a controller without target holds the joints.
    """
    given = file.content.get("controller")
    if given is None:
        return None
    if given["kind"] == "gravity_compensation":
        return Weight(model)
    target = state(file, ("controller", "target"), model, "q", q0) if "target" in given else q0
    shared = {name: given.get(name) for name in ("effort_limit", "actuated")}
    if given["kind"] == "lqr":
        costs = {name: given[name] for name in ("Q", "R", "dt") if name in given}
        with file.blaming("controller"):
            return lqr(model, target, **costs, **shared)
    if "reference" in given:
        if "target" in given:
            raise file.fault(("controller", "target"), "and controller.reference both give positions", "Leave one.")
        target = reference_of(file, model, q0)
    cls = CONTROLLERS[given["kind"]]
    chosen = {key: given[key] for key in gains(cls)}
    with file.blaming("controller"):
        return cls(model, target, **chosen, **shared)


class Weight:
    """Joint forces that bear the weight.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model) -> None:
        from kinetree.compiler.function import compile

        self._model, self._forces = model, compile(model, "gravity_forces")

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces [N m or N]."""
        return self._forces(q)
