"""Other engines, where they are installed and read the file that the model came from: Pinocchio URDF, MuJoCo MJCF."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.verify.check import Check, Compared, LeftOut
from kinetree.verify.roads import QUANTITIES


def _file(s, suffixes: tuple[str, ...]) -> Path:
    """The file of the model, if it is of this format and the model is still what it says."""
    from kinetree.io.load import load

    source = Path(s.model.source) if s.model.source else None
    if source is None or source.suffix.lower() not in suffixes or not source.is_file():
        raise LeftOut(f"the model is not from a file ({' or '.join(suffixes)})")
    options = {"inertia": "accept"} if s.model.accept_impossible_inertia else {}
    if suffixes == (".urdf",) and s.model.nv_base:
        options["floating_base"] = True
    try:
        again = load(str(source), **options)
    except KinetreeError as error:
        raise LeftOut(f"the file does not load without further options: {error}") from None
    same = again.structure() == s.model.structure()
    if not same or not np.array_equal(again.number_values(), s.model.number_values()):
        raise LeftOut(f"the model is not what {source.name} says: it was changed")
    return source


def _installed(name: str):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise LeftOut(f"{name} is not installed") from None


class PinocchioRoad:
    """The dynamics of the file by Pinocchio, state by state."""

    def __init__(self, s) -> None:
        self.s, pin = s, _installed("pinocchio")
        file = str(_file(s, (".urdf",)))
        base = (pin.JointModelFreeFlyer(),) if s.model.nv_base else ()
        # Mimic joints stay coordinates of their own, as in the bare tree.
        self.pin, self.other = pin, pin.buildModelFromUrdf(file, *base, mimic=False)
        self.other.gravity.linear = np.array([float(x) for x in s.model.gravity])
        self.data = self.other.createData()
        self.there = _converter(s.model, self.other, "Pinocchio")

    def each(self, function):
        """``function(q, v, a, tau)`` of the states as Pinocchio sees them."""
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


class MujocoRoad:
    """The dynamics of the file by MuJoCo, state by state, without contacts, constraints and passive forces."""

    def __init__(self, s) -> None:
        self.s, self.mujoco = s, _installed("mujoco")
        self.other = self.mujoco.MjModel.from_xml_path(str(_file(s, (".xml", ".mjcf"))))
        self.other.opt.gravity[:] = [float(x) for x in s.model.gravity]
        if self.other.tendon_armature.any():
            raise LeftOut("tendons have inertia there")
        self.data = self.mujoco.MjData(self.other)
        self.there = _converter(s.model, self.other, "MuJoCo", by_order=True)

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


def _converter(model, other, engine: str, **options):
    import kinetree.conventions as conventions

    try:
        return getattr(conventions, engine)(model, other, **options)
    except KinetreeError as error:
        raise LeftOut(str(error)) from None


def _compare(road, what: str, quantity: str):
    def compare(s):
        engine = s.once(road.__name__, lambda: road(s))
        # Their roundings are of the same kind as ours, but of the files' own frames, and without wrenches.
        allowed = 4.0 * QUANTITIES[quantity].tolerance(s)
        if what == "forces":
            expected = s.call("rnea", s.q, s.v, s.a)
        elif what == "accelerations":
            expected = s.call("aba", s.q, s.v, s.tau)
            allowed = allowed + 4.0 * s.tolerances.accelerations(expected, s.tau)
        else:
            expected = s.call("crba", s.q)
        return Compared(getattr(engine, what)(), expected, allowed, QUANTITIES[quantity].axes)

    return compare


CHECKS = (
    Check("Pinocchio", "rnea", "rnea", _compare(PinocchioRoad, "forces", "joint forces"), cause=8),
    Check("Pinocchio", "crba", "crba", _compare(PinocchioRoad, "matrix", "mass matrix"), cause=8),
    Check("Pinocchio", "aba", "aba", _compare(PinocchioRoad, "accelerations", "accelerations"), cause=8),
    Check("MuJoCo", "mj_rne", "rnea", _compare(MujocoRoad, "forces", "joint forces"), cause=8),
    Check("MuJoCo", "mj_fullM", "crba", _compare(MujocoRoad, "matrix", "mass matrix"), cause=8),
)
