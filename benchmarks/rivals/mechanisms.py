"""A mechanism in Pinocchio and in MuJoCo: trees built from kinetree's, loops closed by balls."""

from __future__ import annotations

import numpy as np


class Pinocchio:
    """The same tree, built joint by joint, with point constraints, for `constraintDynamics`, `lcaba` and derivatives.

    Parameters
    ----------
    kt : module
    model : kinetree.Model
        Closed by ball joints.
    """

    SETTINGS = {
        "constraintDynamics": ((1e-12, 0.0, 1), (1e-12, 1e-12, 10), (1e-12, 1e-10, 10)),
        "lcaba": ((1e-8, 1e-6, 10), (1e-10, 1e-5, 20), (1e-10, 1e-4, 20), (1e-10, 1e-3, 30)),
    }
    """Accuracy, mu and iterations to choose from. mu = 0 solves the equations at once, where no row is redundant."""

    def __init__(self, kt, model) -> None:
        import pinocchio as pin

        self.pin, self.there, self.kt_model = pin, pin.Model(), model
        self.there.gravity.linear = np.array([float(x) for x in model.gravity])
        ends, self.parts = {0: 0}, []
        for i in _depth_first(model):
            X = model.X_T[i]
            placement, at = _se3(pin, X), ends[model.parent[i]]
            for n, made in enumerate(_joints(pin, model.joints[i])):
                at = self.there.addJoint(at, made, placement if n == 0 else pin.SE3.Identity(), f"{i}.{n}")
                self.parts.append((i, n, at))
            ends[i] = at
            I = model.I[i]
            if float(I.m) > 0.0:
                c = np.array([float(x) for x in I.com])
                about = np.array(I.I.matrix.rows, dtype=float) - float(I.m) * (c @ c * np.eye(3) - np.outer(c, c))
                self.there.appendBodyToJoint(at, pin.Inertia(float(I.m), c, about), pin.SE3.Identity())
        self.there.armature = self.v([float(x) for x in model.armature])
        self.constraints = pin.StdVec_RigidConstraintModel([self._point(ends, loop) for loop in model.loops])
        self.settings, self.chosen, self.data, self.found = {}, {}, {}, {}
        for name in self.SETTINGS:
            self.data[name] = self.there.createData()
            self.found[name] = pin.StdVec_RigidConstraintData([c.createData() for c in self.constraints])
            self.choose(name, *self.SETTINGS[name][-1])
        pin.initConstraintDynamics(
            self.there, self.data["constraintDynamics"], self.constraints, self.found["constraintDynamics"]
        )
        pin.computeJointMinimalOrdering(self.there, self.data["lcaba"], self.constraints)

    def _point(self, ends, loop):
        sides = []
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            frame = self.kt_model.frame(name)
            sides.append((ends[frame.body], _se3(self.pin, X @ frame.X_FB)))
        if sides[0][0] == 0:  # lcaba takes the world as the second of the two
            sides.reverse()
        kind, axes = self.pin.ContactType.CONTACT_3D, self.pin.ReferenceFrame.LOCAL
        return self.pin.RigidConstraintModel(kind, self.there, *sides[0], *sides[1], axes)

    def choose(self, algorithm: str, accuracy: float, mu: float, iterations: int) -> None:
        """Settings of the proximal iterations of an algorithm."""
        self.chosen[algorithm] = accuracy, mu, iterations
        self.settings[algorithm] = self.pin.ProximalSettings(accuracy, mu, iterations)

    def in_cpp(self, states):
        """The same mechanism in a C++ loop over states (q, v, tau) in its order."""
        from benchmarks.rivals.pinocchio_constraints import PinocchioCpp

        return PinocchioCpp(self.there, self.constraints, *[np.array(x) for x in zip(*states, strict=True)])

    def q(self, q) -> np.ndarray:
        """Positions."""
        found = np.empty(self.there.nq)
        for i, n, j in self.parts:
            mine, joint = q[self.kt_model.q_slice[i]], self.there.joints[j]
            x = mine if joint.nq != 1 else mine[n : n + 1]
            if joint.nq == 7:  # position, and quaternion w first
                x = [*x[:3], *x[4:], x[3]]
            elif joint.nq == 4:
                x = [*x[1:], x[0]]
            found[joint.idx_q : joint.idx_q + joint.nq] = x
        return found

    def v(self, v, back: bool = False) -> np.ndarray:
        """Velocities, accelerations or forces, or ``back``."""
        found = np.empty(self.there.nv)
        for i, n, j in self.parts:
            slot, joint = self.kt_model.v_slice[i], self.there.joints[j]
            mine = range(slot.start, slot.stop) if joint.nv > 1 else range(slot.start + n, slot.start + n + 1)
            theirs = range(joint.idx_v, joint.idx_v + joint.nv)
            if joint.nv == 6:  # linear before angular
                theirs = [*theirs[3:], *theirs[:3]]
            for k, m in zip(mine, theirs, strict=True):
                found[k if back else m] = v[m if back else k]
        return found

    def runner(self, algorithm: str):
        """A function of (q, v, tau), all in its order: accelerations, or the tuple of its derivatives."""
        name = "lcaba" if algorithm == "lcaba" else "constraintDynamics"
        rest = self.constraints, self.found[name], self.settings[name]
        dynamics, there, data = getattr(self.pin, name), self.there, self.data[name]
        if algorithm != "derivatives":
            return lambda q, v, tau: dynamics(there, data, q, v, tau, *rest)
        derivatives = self.pin.computeConstraintDynamicsDerivatives

        def both(q, v, tau):
            dynamics(there, data, q, v, tau, *rest)
            return derivatives(there, data, *rest)

        return both

    def values(self, x, u, h):
        """Accelerations and multipliers at a state (q, v, tau), moved by h times a direction."""
        q = self.pin.integrate(self.there, x[0], h * u[0])
        self.runner("constraintDynamics")(q, x[1] + h * u[1], x[2] + h * u[2])
        data = self.data["constraintDynamics"]
        return np.concatenate([data.ddq, data.lambda_c])


def _depth_first(model, i: int = 0):
    """The bodies in Pinocchio's order, in which those of a subtree follow each other."""
    for child in model.children(i):
        yield child
        yield from _depth_first(model, child)


def _se3(pin, X):
    return pin.SE3(np.array(X.E.matrix.rows, dtype=float).T, np.array([float(x) for x in X.r]))


def _joints(pin, joint) -> list:
    """One joint, or one after the other."""
    kind = type(joint).__name__
    if kind == "Free":
        return [pin.JointModelFreeFlyer()]
    if kind == "Spherical":
        return [pin.JointModelSpherical()]
    if kind == "Universal":
        return [pin.JointModelRX(), pin.JointModelRY()]
    if kind == "Fixed":
        return []
    axis = np.array([float(x) for x in joint.axis])
    aligned = {(0.0, 0.0, 1.0): "Z", (0.0, 1.0, 0.0): "Y", (1.0, 0.0, 0.0): "X"}.get(tuple(axis))
    letter = {"Revolute": "R", "Prismatic": "P"}[kind]
    if aligned:
        return [getattr(pin, f"JointModel{letter}{aligned}")()]
    return [getattr(pin, f"JointModel{kind}Unaligned")(axis)]


class MuJoCo:
    """mj_forward of the MJCF file that kinetree writes."""

    def __init__(self, kt, model) -> None:
        import mujoco as mj

        self.mj, self.kt, self.model = mj, kt, model
        self.there = mj.MjModel.from_xml_string(kt.io.to_mjcf(model))
        self.there.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT  # of shapes with each other
        self.data, self.parts = mj.MjData(self.there), []
        for i in model.outward():
            name, joint = model.joint_name(i), model.joints[i]
            several = joint.nv > 1 and type(joint).__name__ == "Universal"
            names = [f"{name}_{n + 1}" for n in range(joint.nv)] if several else [name] * (joint.nv > 0)
            self.parts += [(i, n, self.there.joint(each)) for n, each in enumerate(names)]
        self.plain = [model.v_slice[i].start + n for i, n, _ in self.parts if type(model.joints[i]).__name__ != "Free"]

    def state(self, q, v, tau) -> tuple[np.ndarray, ...]:
        """Positions, velocities and forces of a state."""
        found = np.zeros(self.there.nq), np.zeros(self.there.nv), np.zeros(self.there.nv)
        for i, n, joint in self.parts:
            at_q, at_v = joint.qposadr[0], joint.dofadr[0]
            mine, free = self.model.v_slice[i], type(self.model.joints[i]).__name__ == "Free"
            if free:  # in the world, linear before angular
                R, p = self.kt.pose(self.model, q, frame=self.model.body_names[i])
                self.mj.mju_mat2Quat(quaternion := np.empty(4), np.ascontiguousarray(R).ravel())
                found[0][at_q : at_q + 7] = [*p, *quaternion]
            else:
                found[0][at_q] = q[self.model.q_slice[i].start + n]
            for theirs, x in zip(found[1:], (v, tau), strict=True):
                theirs[at_v : at_v + 6] = [*(R @ x[mine][3:]), *x[mine][:3]] if free else theirs[at_v : at_v + 6]
                theirs[at_v] = theirs[at_v] if free else x[mine.start + n]
        return found

    def smooth(self) -> np.ndarray:
        """The last accelerations without constraints, of all but free joints."""
        return np.array([
            self.data.qacc_smooth[joint.dofadr[0]] for i, _, joint in self.parts
            if type(self.model.joints[i]).__name__ != "Free"
        ])  # fmt: skip

    def call(self, q, v, tau):
        """Accelerations in its order."""
        data = self.data
        data.qpos, data.qvel, data.qfrc_applied = q, v, tau
        self.mj.mj_forward(self.there, data)
        return data.qacc
