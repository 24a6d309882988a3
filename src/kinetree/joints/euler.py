"""Rotations about successive axes: the spherical joint by Euler angles, and the universal joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.contract import Joint
from kinetree.joints.spherical import implicit_point
from kinetree.spatial import AxialRotation, Force, IdentityRotation, Motion, Transform, Vector3
from kinetree.spatial.rotations import EULER_SEQUENCES
from kinetree.spatial.scalar import sincos


class _SuccessiveRotations(Joint):
    """Rotation about the first axis, then about the second of the turned frame, and so on; v = q_dot.

    With coordinate rotations E_k about unit vectors e_k, E = E_n ... E_1, and column k of S is E_n ... E_{k+1} e_k:
    outwards through the axes, every earlier column turns along.
    """

    __slots__ = ()

    nq = nv = 3

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes as numbers 0, 1, 2, first rotation first."""
        raise NotImplementedError

    def rotations(self, q):
        """One coordinate rotation per axis."""
        return [AxialRotation(axis, *reversed(sincos(angle))) for axis, angle in zip(self.axes, q, strict=True)]

    def transform(self, q):
        E = IdentityRotation()
        for E_k in self.rotations(q):
            E = E_k @ E
        return Transform(E, Vector3.zero())

    def motion_subspace(self, q):
        columns = []
        for axis, E_k in zip(self.axes, self.rotations(q), strict=True):
            columns = [*(E_k @ s for s in columns), Vector3.unit(axis)]
        return tuple(Motion(s, Vector3.zero()) for s in columns)

    def velocity(self, q, v):
        w = Vector3.zero()
        for axis, E_k, v_k in zip(self.axes, self.rotations(q), v, strict=True):
            w = E_k @ w + Vector3.unit(axis) * v_k
        return Motion(w, Vector3.zero())

    def bias(self, q, v):
        # c <- E_k c + (E_k w) x e_k v_k: the recursion of eq. 2.43 through massless intermediate frames.
        w, c = Vector3.zero(), Vector3.zero()
        for axis, E_k, v_k in zip(self.axes, self.rotations(q), v, strict=True):
            w, turn = E_k @ w, Vector3.unit(axis) * v_k
            c = E_k @ c + w.cross(turn)
            w = w + turn
        return Motion(c, Vector3.zero())

    @property
    def regroupable(self) -> tuple[str, ...]:
        return ("m",)

    @property
    def position_units(self):
        return ("rad",) * self.nq

    @property
    def velocity_units(self):
        return ("rad/s",) * self.nv


@dataclass(frozen=True, slots=True, eq=False)
class SphericalEuler(_SuccessiveRotations):
    """Spherical joint by three Euler angles; v are their rates.

    Parameters
    ----------
    sequence : str
        Three of the letters x, y, z, no two neighbors equal: the axes of the successive rotations, each about an axis
        of the frame as already turned ("intrinsic"). ``"zyx"`` is yaw, pitch, roll.

    Raises
    ------
    JointError
        If the sequence is not one of the twelve.

    Notes
    -----
    Singular where the first and third axis align: middle angle +-90 deg for three different letters, 0 and 180 deg
    otherwise. There S has rank 2 and forward dynamics has no solution;
    :class:`~kinetree.joints.spherical.Spherical` has no singularity.

    *Source* Featherstone, section 4.5, eqs. 4.7-4.9 for ``"zyx"``: E = rx(q3) ry(q2) rz(q1).

    *Differs* SciPy means the same by upper-case letters; its lower case is about fixed axes.

    Examples
    --------
    >>> SphericalEuler("zyx").position_names
    ('angle z', 'angle y', 'angle x')
    """

    sequence: str = "zyx"

    kind = "spherical_euler"

    def __post_init__(self) -> None:
        if not isinstance(self.sequence, str) or self.sequence not in EULER_SEQUENCES:
            raise JointError(
                f"spherical_euler joint: sequence {self.sequence!r} is not one of {', '.join(EULER_SEQUENCES)} "
                "(lower case, rotations about the axes of the turning frame).",
                sequence=self.sequence,
            )

    @property
    def axes(self):
        return tuple("xyz".index(letter) for letter in self.sequence)

    @property
    def position_names(self):
        return tuple(f"angle {letter}" for letter in _numbered(self.sequence))

    @property
    def velocity_names(self):
        return tuple(f"rate {letter}" for letter in _numbered(self.sequence))

    def random(self, rng):
        # Ten degrees away from the singular middle angles.
        first, middle, third = (float(x) for x in rng.uniform(-1.0, 1.0, 3))
        quarter = (math.pi / 2.0 - math.radians(10.0)) * middle
        proper = self.sequence[0] == self.sequence[2]
        return [math.pi * first, quarter + math.pi / 2.0 if proper else quarter, math.pi * third]

    def implicit(self, X):
        return implicit_point(X)

    @classmethod
    def examples(cls, rng):
        yield from (cls(sequence) for sequence in EULER_SEQUENCES)


@dataclass(frozen=True, slots=True, eq=False)
class Universal(_SuccessiveRotations):
    """Hooke's joint: rotation by q[0] about x, then by q[1] about y of the turned frame; v = q_dot.

    The first axis is fixed in the predecessor, the second in the successor; they are perpendicular and meet.

    Notes
    -----
    *Source* Sueda, section 2.2 (universal joint); the columns of S as in Featherstone, eq. 4.8.
    Constraint forces: any force through the center, and a moment about the common normal of the two axes.

    Examples
    --------
    >>> [float(x) for x in Universal().motion_subspace([0.7, 0.0])[0].angular]
    [1.0, 0.0, 0.0]
    """

    kind = "universal"
    nq = nv = 2
    axes = (0, 1)
    position_names = ("angle x", "angle y")
    velocity_names = ("rate x", "rate y")

    def random(self, rng):
        return [float(x) for x in rng.uniform(-math.pi, math.pi, 2)]

    def implicit(self, X):
        x, y = X.E @ Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0)
        delta, T = implicit_point(X)
        return [-x.dot(y), *delta], (Force(x.cross(y), Vector3.zero()), *T)


def _numbered(sequence: str) -> list[str]:
    """Letters, with a number if one comes twice: z1, y, z2."""
    return [
        letter if sequence.count(letter) == 1 else f"{letter}{1 + sequence[:k].count(letter)}"
        for k, letter in enumerate(sequence)
    ]
