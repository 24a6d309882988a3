"""The base of all engines: joints are paired, coordinate maps convert them, duality and geometry give the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, a_whole_number, an_instance, array, checked, several, whole
from kinetree.conventions.coordinate_maps import CoordinateMap
from kinetree.conventions.rotations import quaternion_of, rotation_matrix
from kinetree.errors import ArgumentError, ModelError, ShapeError, UnsupportedError, unknown_name
from kinetree.once import once

SWAP = np.array([3, 4, 5, 0, 1, 2])
"""Exchanges the halves of a six-vector."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A joint here and there.

    Attributes
    ----------
    joint : int
        Number of the joint here, which is that of the body that it moves.
    coordinate_map : CoordinateMap
    q, v, q_there, v_there : slice
    """

    joint: int
    coordinate_map: CoordinateMap
    q: slice
    v: slice
    q_there: slice
    v_there: slice


class Engine:
    """Converts arrays between a model and the same robot in another engine; every method takes leading batch axes.

    Positions ``q`` that methods take are always kinetree's. ``..._to`` goes there, ``..._from`` comes back. float32
    arrays give float32. There is no state: an Engine may be shared by threads.

    Parameters
    ----------
    model : Model
    pairs : sequence of Pair
    bodies : sequence of int
        For each body here, its number there, or -1.
    nv_there : int, optional
        Number of velocities there, all of which must have partners.

    Notes
    -----
    In both engines the frame of a body is that of the link at the joint that moves it. Velocities follow
    ``v_there = T v``, forces keep their power ``tau . v``, so ``tau = T^T tau_there``, and ``M = T^T M_there T``;
    accelerations are derivatives of velocities' components: ``a_there = T a + dT/dt v``.
    """

    name = "engine"
    angular_first = True  # order of six-vectors there
    quaternion_first = False  # order of poses (p, quaternion) there
    scalar_last = False  # quaternions (x, y, z, w) there

    @checked(model=a_model, pairs=several(an_instance(Pair)), bodies=several(a_whole_number), nv_there=a_whole_number)
    def __init__(self, model, pairs, bodies, nv_there: int | None = None) -> None:
        self.model, self.pairs = model, tuple(pairs)
        self.bodies = np.array(bodies, dtype=int)
        if self.bodies.shape != (model.nb,):
            found, expected = self.bodies.shape, (model.nb,)
            raise ShapeError(f"{self.name}: bodies has shape {found}, expected {expected} for {model.name!r}")
        self.nq_there = max((pair.q_there.stop for pair in self.pairs), default=0)
        self.nv_there = max((pair.v_there.stop for pair in self.pairs), default=0)
        found = sum(pair.coordinate_map.nv for pair in self.pairs)
        if nv_there is not None and found != nv_there:
            raise ModelError(
                f"{self.name}: the model there has {nv_there} velocities and model {model.name!r} has partners for "
                f"{found} of them; the two are not the same robot"
            )
        unpaired = sorted({i for i in model.outward() if model.joints[i].nv} - {pair.joint for pair in self.pairs})
        if unpaired:
            names = ", ".join(repr(model.joint_name(i)) for i in unpaired)
            raise ModelError(f"{self.name}: no joints there for {names} of model {model.name!r}", joints=unpaired)

    @staticmethod
    def _slots(model, found) -> list[Pair]:
        """Pairs from ``(joint, coordinate map, first q there, first v there)``."""
        return [
            Pair(i, mapping, model.q_slice[i], model.v_slice[i], slice(q, q + mapping.nq), slice(v, v + mapping.nv))
            for i, mapping, q, v in found
        ]

    # States ----------------------------------------------------------------------------------------------------------

    def q_to(self, q):
        """Positions there, (..., nq there), from (..., nq)."""
        q = self._array("q", q, self.model.nq)
        out = np.zeros((*q.shape[:-1], self.nq_there), q.dtype)
        for pair in self.pairs:
            out[..., pair.q_there] = pair.coordinate_map.q_to(q[..., pair.q])
        return out

    def q_from(self, q_there):
        """Positions here, (..., nq), from (..., nq there)."""
        q_there = self._array("q_there", q_there, self.nq_there)
        out = np.zeros((*q_there.shape[:-1], self.model.nq), q_there.dtype)
        for pair in self.pairs:
            out[..., pair.q] = pair.coordinate_map.q_from(q_there[..., pair.q_there])
        return out

    def T(self, q):
        """The matrix (..., nv there, nv) with ``v_there = T v``."""
        return self._matrix(q, "T", "v_there", "v")

    def T_inverse(self, q):
        """Its left inverse (..., nv, nv there)."""
        return self._matrix(q, "T_inverse", "v", "v_there")

    def _matrix(self, q, member: str, rows: str, columns: str):
        q, sizes = self._array("q", q, self.model.nq), {"v": self.model.nv, "v_there": self.nv_there}
        out = np.zeros((*q.shape[:-1], sizes[rows], sizes[columns]), q.dtype)
        for pair in self.pairs:
            out[..., getattr(pair, rows), getattr(pair, columns)] = getattr(pair.coordinate_map, member)(q[..., pair.q])
        return out

    def v_to(self, q, v):
        """Velocities there, (..., nv there)."""
        q, v = self._arrays(q=(q, self.model.nq), v=(v, self.model.nv))
        return _times(self.T(q), v)

    def v_from(self, q, v_there):
        """Velocities here, (..., nv)."""
        q, v_there = self._arrays(q=(q, self.model.nq), v_there=(v_there, self.nv_there))
        return _times(self.T_inverse(q), v_there)

    def a_to(self, q, v, a):
        """Accelerations there: the derivatives of the velocities there."""
        q, v, a = self._arrays(q=(q, self.model.nq), v=(v, self.model.nv), a=(a, self.model.nv))
        return _times(self.T(q), a) + self.shift(q, v)

    def a_from(self, q, v, a_there):
        """Accelerations here, (..., nv), at the position and velocity here."""
        q, v, a_there = self._arrays(q=(q, self.model.nq), v=(v, self.model.nv), a_there=(a_there, self.nv_there))
        return _times(self.T_inverse(q), a_there - self.shift(q, v))

    def shift(self, q, v):
        """The acceleration there, (..., nv there), where that here is zero: ``dT/dt v``."""
        q, v = self._arrays(q=(q, self.model.nq), v=(v, self.model.nv))
        leading = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        out = np.zeros((*leading, self.nv_there), np.result_type(q, v))
        for pair in self.pairs:
            part = pair.coordinate_map.shift(q[..., pair.q], v[..., pair.v])
            if part is not None:
                out[..., pair.v_there] = part
        return out

    def tau_to(self, q, tau):
        """Joint forces there, (..., nv there), of the same power."""
        q, tau = self._arrays(q=(q, self.model.nq), tau=(tau, self.model.nv))
        return _times(np.swapaxes(self.T_inverse(q), -1, -2), tau)

    def tau_from(self, q, tau_there):
        """Joint forces here, (..., nv), of the same power."""
        q, tau_there = self._arrays(q=(q, self.model.nq), tau_there=(tau_there, self.nv_there))
        return _times(np.swapaxes(self.T(q), -1, -2), tau_there)

    def M_to(self, q, M):
        """The full mass matrix there, also where the engine fills only one triangle."""
        q, M = self._arrays(q=(q, self.model.nq), M=(M, self.model.nv, self.model.nv))
        T = self.T_inverse(q)
        return np.swapaxes(T, -1, -2) @ M @ T

    def M_from(self, q, M_there):
        """The mass matrix here, full and symmetric."""
        q, M_there = self._arrays(q=(q, self.model.nq), M_there=(M_there, self.nv_there, self.nv_there))
        T = self.T(q)
        return np.swapaxes(T, -1, -2) @ self._full(M_there) @ T

    @staticmethod
    def _full(M):
        return M

    # Bodies ----------------------------------------------------------------------------------------------------------

    def body_to(self, body: str | int) -> int:
        """Number there of a body, by its name or number here."""
        number = int(self.bodies[self.model.body(body)])
        if number < 0:
            raise UnsupportedError(f"{self.name} has no body {body!r}: it is merged into another one there", body=body)
        return number

    def body_from(self, number: int) -> int:
        """Number here of the body with a number there."""
        found = np.flatnonzero(self.bodies == whole(f"{self.name}: number", number))
        if not len(found):
            raise unknown_name(f"body of {self.name}", str(number), map(str, self.bodies), f"model {self.model.name!r}")
        return int(found[0])

    def six_to(self, x):
        """Twists or wrenches (..., 6) in the order of six-vectors there; the coordinates do not change."""
        x = self._array("x", x, 6)
        return x if self.angular_first else x[..., SWAP]

    six_from = six_to  # the halves exchanged twice

    def J_to(self, q, J):
        """A frame's Jacobian (..., 6, nv there) with rows and columns as there, in the same coordinates."""
        q, J = self._arrays(q=(q, self.model.nq), J=(J, 6, self.model.nv))
        return np.swapaxes(self.six_to(np.swapaxes(J @ self.T_inverse(q), -1, -2)), -1, -2)

    def J_from(self, q, J_there):
        """A frame's Jacobian (..., 6, nv) with rows [angular; linear], in the same coordinates."""
        q, J_there = self._arrays(q=(q, self.model.nq), J_there=(J_there, 6, self.nv_there))
        return np.swapaxes(self.six_from(np.swapaxes(J_there @ self.T(q), -1, -2)), -1, -2)

    def quaternion_to(self, quaternion):
        """Quaternions (..., 4) in the order there."""
        quaternion = self._array("quaternion", quaternion, 4)
        return quaternion[..., [1, 2, 3, 0]] if self.scalar_last else quaternion

    def quaternion_from(self, quaternion_there):
        """Quaternions (..., 4) as (w, x, y, z)."""
        quaternion = self._array("quaternion_there", quaternion_there, 4)
        return quaternion[..., [3, 0, 1, 2]] if self.scalar_last else quaternion

    def pose_to(self, R, p):
        """Poses (..., 7) of position and quaternion in the order there, from (..., 3, 3) and (..., 3)."""
        R, p = self._arrays(R=(R, 3, 3), p=(p, 3))
        leading = np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
        quaternion = np.broadcast_to(self.quaternion_to(quaternion_of(R)), (*leading, 4))
        p = np.broadcast_to(p, (*leading, 3))
        return np.concatenate([quaternion, p] if self.quaternion_first else [p, quaternion], axis=-1)

    def pose_from(self, pose_there):
        """R (..., 3, 3) and p (..., 3) from poses (..., 7)."""
        pose = self._array("pose_there", pose_there, 7)
        quaternion, p = (pose[..., :4], pose[..., 4:]) if self.quaternion_first else (pose[..., 3:], pose[..., :3])
        return rotation_matrix(self.quaternion_from(quaternion)), p

    def f_ext_to(self, q, f_ext):
        """External wrenches in the form there, one row for every body there.

        Parameters
        ----------
        q : (..., nq) array
        f_ext : (..., nb, 6) array
            [moment; force] in world coordinates about the world's origin, as everywhere in kinetree.

        Returns
        -------
        (..., bodies there, 6) array
        """
        q, f_ext = self._arrays(q=(q, self.model.nq), f_ext=(f_ext, self.model.nb, 6))
        R, p = self._poses(q)
        rows = self._wrench_to(f_ext[..., :3], f_ext[..., 3:], R.astype(f_ext.dtype), p.astype(f_ext.dtype))
        out = np.zeros((*rows.shape[:-2], self.bodies.max() + 1, 6), rows.dtype)
        for i in self.model.outward():
            if self.bodies[i] >= 0:
                out[..., self.bodies[i], :] = rows[..., i, :]
            elif np.any(f_ext[..., i, :]):
                self.body_to(i)  # raises that there is none
        return out

    def f_ext_from(self, q, wrenches):
        """External wrenches (..., nb, 6) in world coordinates about the world's origin, from those there."""
        q, wrenches = self._arrays(q=(q, self.model.nq), wrenches=(wrenches, None, 6))
        if wrenches.shape[-2] <= self.bodies.max():
            raise ShapeError(
                f"{self.name}: wrenches has shape {wrenches.shape}, expected (..., n, 6), n at least "
                f"{self.bodies.max() + 1}, for {self.model.name!r}"
            )
        R, p = self._poses(q)
        leading = np.broadcast_shapes(wrenches.shape[:-2], p.shape[:-2])
        rows = np.zeros((*leading, self.model.nb, 6), wrenches.dtype)
        known = [i for i in self.model.outward() if self.bodies[i] >= 0]
        rows[..., known, :] = wrenches[..., self.bodies[known], :]
        found = self._wrench_from(rows, R.astype(wrenches.dtype), p.astype(wrenches.dtype))
        found[..., [i for i in range(self.model.nb) if i not in known], :] = 0.0
        return found

    def _about(self, R, p):
        """The points (..., nb, 3) in the world about which moments are taken there."""
        return p

    def _wrench_to(self, n, f, R, p):
        """World axes, about a point of the body."""
        n = n - np.cross(self._about(R, p), f)
        return self.six_to(np.concatenate(np.broadcast_arrays(n, f), axis=-1))

    def _wrench_from(self, rows, R, p):
        six = self.six_from(rows)
        n, f = six[..., :3], six[..., 3:]
        n = n + np.cross(self._about(R, p), f)
        return np.concatenate(np.broadcast_arrays(n, f), axis=-1)

    def _poses(self, q):
        return _forward_kinematics()(self.model, np.asarray(q, dtype=float))

    # Several at once -------------------------------------------------------------------------------------------------

    def to(self, **arrays) -> dict[str, np.ndarray]:
        """All of some arrays there, by name.

        Parameters
        ----------
        **arrays
            ``q, v, a, tau, M, J, f_ext``, any of them; ``q`` where the others depend on it, ``v`` with ``a``.

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> class Other:  # the part of a MuJoCo model that is used
        ...     njnt, nbody, nq, nv = 1, 2, 1, 1
        ...     jnt_type, jnt_qposadr, jnt_dofadr = [3], [0], [0]
        ...     body_ipos = np.zeros((2, 3))
        ...     def joint(self, j): return type("J", (), {"name": "pivot"})
        ...     def body(self, b): return type("B", (), {"name": ("world", "bob")[b]})
        >>> there = kt.conventions.MuJoCo(kt.models.pendulum(), Other())
        >>> there.to(q=np.array([0.5]), v=np.array([1.0]))["v"].tolist()
        [1.0]
        """
        return self._all(arrays, "to")

    def back(self, **arrays) -> dict[str, np.ndarray]:
        """All of some arrays here, by name, from those there; ``q`` there is converted first."""
        return self._all(arrays, "from")

    def _all(self, arrays, direction: str) -> dict[str, np.ndarray]:
        needs = {"q": (), "v": ("q",), "a": ("q", "v"), "tau": ("q",), "M": ("q",), "J": ("q",), "f_ext": ("q",)}
        found, here = {}, {}
        for name, needed in needs.items():
            if name not in arrays:
                continue
            for entry in needed:
                if entry not in arrays:
                    raise ArgumentError(f"{self.name}: {name} depends on {entry}; give {entry}= as well", argument=name)
            found[name] = getattr(self, f"{name}_{direction}")(*(here[entry] for entry in needed), arrays[name])
            here[name] = arrays[name] if direction == "to" else found[name]
        for name in arrays:
            if name not in needs:
                raise unknown_name("array", name, needs, f"conversions to {self.name}")
        return found

    def _array(self, what: str, x, *shape: int | None) -> np.ndarray:
        """An array of real numbers with these last axes, None for any length; the type of its floats is kept."""
        array(f"{self.name}: {what}", x)
        x = np.asarray(x)
        if x.dtype.kind != "f":
            x = x.astype(float)
        last = x.shape[x.ndim - len(shape) :] if x.ndim >= len(shape) else None
        if last is None or any(n not in (None, m) for n, m in zip(shape, last, strict=True)):
            expected = ", ".join("n" if n is None else str(n) for n in ("...", *shape))
            raise ShapeError(f"{self.name}: {what} has shape {x.shape}, expected ({expected}) for {self.model.name!r}")
        return x

    def _arrays(self, **given) -> list[np.ndarray]:
        """Arrays, each by name from (array, last axes), whose leading axes fit together."""
        found = [self._array(what, x, *shape) for what, (x, *shape) in given.items()]
        leading = [x.shape[: x.ndim + 1 - len(entry)] for x, entry in zip(found, given.values(), strict=True)]
        try:
            np.broadcast_shapes(*leading)
        except ValueError:
            axes_given = ", ".join(f"{what} {axes}" for what, axes in zip(given, leading, strict=True))
            raise ShapeError(f"{self.name}: leading axes do not fit together: {axes_given}") from None
        return found


@once
def _forward_kinematics():
    from kinetree.algorithms import ALGORITHMS
    from kinetree.compiler.calls import plain_call

    return plain_call(ALGORITHMS["forward_kinematics"])


def _times(T, x):
    return (T @ x[..., None])[..., 0]
