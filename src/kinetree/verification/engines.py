"""Other engines, where they are installed: Pinocchio on URDF, MuJoCo on MJCF.

They read the file that the model came from. If the model is another one by now, or its file is gone, they read the
model as kinetree writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinetree.errors import KinetreeError, UnsupportedError
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.methods import QUANTITIES
from kinetree.verification.source import source_of

# Options of `kinetree.load` under which the engine reads the same robot from the file.
SAME_ROBOT = {
    ".urdf": {"name", "floating_base", "base_joint", "merge_fixed", "package_dirs"},
    ".xml": {"name", "merge_fixed", "package_dirs"},
}


def _read(s, suffixes: tuple[str, ...], from_file: Callable, from_text: Callable, text_of: Callable):
    """The model in an engine, and a note where it was not read from the model's file.

    Parameters
    ----------
    s : States
    suffixes : tuple of str
        Of the files that the engine reads.
    from_file, from_text : callable
        ``from_file(path)`` and ``from_text(text)`` read for the engine; the former gives None where the engine
        interprets the file in another way.
    text_of : callable
        ``text_of(model)`` writes the model in the engine's format.
    """
    model, source = s.model, source_of(s)
    if not model.source or Path(model.source).suffix.lower() not in suffixes:
        raise LeftOut(f"the model is not from a file that it reads ({' or '.join(suffixes)})")
    options = set(model.source_options or ()) - SAME_ROBOT[suffixes[0]]
    if model.accept_impossible_inertia:  # as they do
        options.discard("inertia")
    other = from_file(source.path) if source.describes and not options else None
    if other is not None:
        return other, ""
    read = f"the file was read with {', '.join(sorted(options))}" if options else "its root is elsewhere there"
    why = "the file is not the model" if source.differences else source.missing or read
    try:
        text = text_of(bare(model))
    except UnsupportedError as error:
        raise LeftOut(f"{why}, and {' '.join(str(error).split())}") from None
    return from_text(text), f"on the model as it is written: {why}"


def bare(model):
    """The model without the parts that only the complete dynamics take into account."""
    from kinetree.model.equipment import Equipment
    from kinetree.model.model import GRAVITY

    return model.without_limits().replace(forces=(), gravity=GRAVITY, equipment=Equipment())


def _installed(name: str):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise LeftOut(f"{name} is not installed") from None


class PinocchioMethod:
    """The dynamics of the file by Pinocchio, state by state."""

    def __init__(self, s) -> None:
        from kinetree.io.urdf.write import to_urdf

        self.s, self.pin = s, _installed("pinocchio")
        pin = self.pin
        free = (pin.JointModelFreeFlyer(),) if (s.model.source_options or {}).get("floating_base") else ()

        def from_file(path):
            other = pin.buildModelFromUrdf(str(path), *free, mimic=False)  # the bare tree has no mimic joints
            moves_the_world = free and other.existFrame("world")
            return None if moves_the_world else other

        def from_text(text):  # a base that is free is written so
            return pin.buildModelFromXML(text, mimic=False)

        self.other, self.note = _read(s, (".urdf",), from_file, from_text, lambda model: to_urdf(model, meshes="drop"))
        self.other.gravity.linear = np.array([float(x) for x in s.model.gravity])
        self.data = self.other.createData()
        self.there = _converter(s.model, self.other, "Pinocchio", self.note)

    def each(self, function):
        """``function(q, v, a, tau)`` of the states in Pinocchio's conventions."""
        s, there = self.s, self.there
        given = there.q_to(s.q), there.v_to(s.q, s.v), there.a_to(s.q, s.v, s.a), there.tau_to(s.q, s.tau)
        return np.array([function(*(x[k] for x in given)) for k in range(s.n)])

    def forces(self):
        tau = self.each(lambda q, v, a, _: self.pin.rnea(self.other, self.data, q, v, a))
        return self.there.tau_from(self.s.q, tau)

    def matrix(self):
        return self.there.M_from(self.s.q, self.each(lambda q, *_: np.array(self.pin.crba(self.other, self.data, q))))

    def accelerations(self):
        a = self.each(lambda q, v, _, tau: self.pin.aba(self.other, self.data, q, v, tau))
        return self.there.a_from(self.s.q, self.s.v, a)


class MujocoMethod:
    """The dynamics of the file by MuJoCo, state by state, without contacts, constraints and passive forces."""

    def __init__(self, s) -> None:
        from kinetree.io.mjcf.write import to_mjcf

        self.s, self.mujoco = s, _installed("mujoco")
        mj = self.mujoco
        self.other, self.note = _read(
            s, (".xml", ".mjcf"), lambda path: mj.MjModel.from_xml_path(str(path)), mj.MjModel.from_xml_string,
            lambda model: to_mjcf(model, meshes="drop"),
        )  # fmt: skip
        self.other.opt.gravity[:] = [float(x) for x in s.model.gravity]
        if self.other.tendon_armature.any():
            raise LeftOut("tendons have inertia there")
        self.data = self.mujoco.MjData(self.other)
        self.there = _converter(s.model, self.other, "MuJoCo", self.note, by_order=True)

    def each(self, function):
        s, there, found = self.s, self.there, []
        given = there.q_to(s.q), there.v_to(s.q, s.v), there.a_to(s.q, s.v, s.a)
        for k in range(s.n):
            self.data.qpos[:], self.data.qvel[:] = given[0][k], given[1][k]
            self.mujoco.mj_fwdPosition(self.other, self.data)
            self.mujoco.mj_fwdVelocity(self.other, self.data)
            found.append(function(given[2][k]))
        return np.array(found)

    def forces(self):
        def one(a):
            self.data.qacc[:], tau = a, np.empty(self.other.nv)
            self.mujoco.mj_rne(self.other, self.data, 1, tau)
            return tau + self.other.dof_armature * a  # mj_rne leaves the armature out

        return self.there.tau_from(self.s.q, self.each(one))

    def matrix(self):
        def one(_):
            M = np.empty((self.other.nv, self.other.nv))
            old = hasattr(self.data, "qM")  # before version 4
            self.mujoco.mj_fullM(self.other, *((M, self.data.qM) if old else (self.data, M)))
            return M

        return self.there.M_from(self.s.q, self.each(one))


def _converter(model, other, engine: str, note: str, **options):
    import kinetree.conventions as conventions

    try:
        return getattr(conventions, engine)(model, other, **options)
    except KinetreeError as error:
        if not note and not hasattr(error, "joint"):
            raise  # the engine finds another robot in the file than kinetree does
        raise LeftOut(str(error)) from None


# Our algorithm, and its arguments.
OURS = {"forces": ("rnea", "q v a"), "matrix": ("crba", "q"), "accelerations": ("aba", "q v tau")}


def _compare(method, what: str, quantity: str):
    def compare(s):
        engine = s.once(method.__name__, lambda: method(s))
        # Their roundings are of the same kind as ours, but of the files' own frames, and without wrenches.
        allowed = 4.0 * QUANTITIES[quantity].tolerance(s)
        name, arguments = OURS[what]
        expected = s.call(name, *(getattr(s, x) for x in arguments.split()))
        if what == "accelerations":
            allowed = allowed + 4.0 * s.tolerances.accelerations(expected, s.tau)
        return Compared(getattr(engine, what)(), expected, allowed, QUANTITIES[quantity].axes, engine.note)

    return compare


CHECKS = (
    Check("Pinocchio", "rnea", "rnea", _compare(PinocchioMethod, "forces", "joint forces"), cause=8),
    Check("Pinocchio", "crba", "crba", _compare(PinocchioMethod, "matrix", "mass matrix"), cause=8),
    Check("Pinocchio", "aba", "aba", _compare(PinocchioMethod, "accelerations", "accelerations"), cause=8),
    Check("MuJoCo", "mj_rne", "rnea", _compare(MujocoMethod, "forces", "joint forces"), cause=8),
    Check("MuJoCo", "mj_fullM", "crba", _compare(MujocoMethod, "matrix", "mass matrix"), cause=8),
)
