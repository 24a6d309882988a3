"""Drag of a fluid on a body that is taken as a box: linear and quadratic, on motion and rotation along each axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, number, refuse
from kinetree.errors import UnsupportedError
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.fields import set_numbers, set_vectors
from kinetree.spatial import GeneralRotation, Matrix3, Vector3
from kinetree.spatial.rotations import quaternion_from_rotation, quaternion_to_rotation
from kinetree.spatial.scalar import absolute

LEAST = 1e-15  # [kg m^2] of a moment of inertia, as MuJoCo's mjMINVAL


@dataclass(frozen=True)
class BoxDrag(ForceElement):
    """Drag of a fluid on a box: MuJoCo's forces of ``density`` and ``viscosity`` on bodies without ``fluidshape``.

    Parameters
    ----------
    name, frame : str
    size : sequence of float
        Edges b of the box, shape (3,) [m].
    density : float
        Of the fluid [kg/m^3].
    viscosity : float
        Of the fluid [Pa s].
    wind : sequence of float
        Velocity of the fluid, world axes, shape (3,) [m/s].
    at : sequence of float
        Center of the box, in coordinates of the frame, shape (3,) [m].
    orientation : sequence of float
        Of the box in the frame, a unit quaternion (w, x, y, z) [1].

    Raises
    ------
    ArgumentError
        A number is not finite or negative, or the orientation is no unit quaternion.

    Notes
    -----
    Source: MuJoCo, "Computation: Passive forces", inertia model. Along axis i of the box, with its velocity v, angular
    velocity w, and mean edge d: force ``-3 pi d viscosity v_i - density b_j b_k |v_i| v_i / 2``, moment
    ``-pi d^3 viscosity w_i - density b_i (b_j^4 + b_k^4) |w_i| w_i / 64``. They are the negative gradient of a
    potential of the velocities, so D is symmetric and positive semidefinite.

    Examples
    --------
    >>> import kinetree as kt
    >>> fish = kt.models.free_body()
    >>> fish = fish.with_forces(*BoxDrag.of_bodies(fish, density=1000.0))
    >>> [round(x, 3) for x in fish.forces[-1].size]
    [1.449, 0.949, 0.548]
    """

    name: str
    frame: str
    size: tuple
    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple = (0.0, 0.0, 0.0)
    at: tuple = (0.0, 0.0, 0.0)
    orientation: tuple = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_numbers(self, "density", "viscosity", least=0.0)
        set_vectors(self, "size", "wind", "at")
        what = f"BoxDrag {self.name!r}"
        if min(self.size) < 0.0:
            refuse(f"{what}: size", self.size, "three edges that are not negative")
        given = self.orientation
        if not (isinstance(given, (list, tuple, np.ndarray)) and len(given) == 4):
            refuse(f"{what}: orientation", given, "a unit quaternion (w, x, y, z)")
        unit = tuple(number(f"{what}: orientation", x) for x in given)
        length = math.hypot(*unit)
        if abs(length - 1.0) > 1e-6:
            refuse(f"{what}: orientation", given, f"a unit quaternion (w, x, y, z); its length is {length:.9g}")
        object.__setattr__(self, "orientation", tuple(x / length for x in unit))

    @property
    def passive(self) -> bool:
        """Whether the fluid is at rest."""
        return not any(map(present, self.wind))

    def dissipation(self, kin):
        axes = quaternion_to_rotation(self.orientation)
        R, b = kin.rotation(self.frame).T, self.size
        w = axes @ (R @ kin.angular_velocity(self.frame))
        v = axes @ (R @ (kin.velocity(self.frame, self.at) - Vector3(*self.wind)))
        d = (b[0] + b[1] + b[2]) / 3.0
        potential = 0.5 * math.pi * self.viscosity * d * (d * d * w.dot(w) + 3.0 * v.dot(v))
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            pressed, turned = 0.5 * b[j] * b[k], b[i] * (b[j] ** 4 + b[k] ** 4) / 64.0
            cubes = pressed * absolute(v[i]) * v[i] * v[i] + turned * absolute(w[i]) * w[i] * w[i]
            potential = potential + self.density / 3.0 * cubes
        return potential

    @classmethod
    def of_bodies(cls, model, density: float = 0.0, viscosity: float = 0.0, wind=(0.0, 0.0, 0.0)) -> tuple:
        """An element for each moving body with mass: the box of constant density with its mass and inertia.

        Parameters
        ----------
        model : Model
            As MuJoCo takes each body by itself, files with fixed bodies are read with ``merge_fixed=False`` for equal
            forces.
        density, viscosity : float
            [kg/m^3], [Pa s].
        wind : (3,) array
            [m/s].

        Returns
        -------
        tuple of BoxDrag
            Named "fluid <body>".

        Raises
        ------
        ArgumentError, UnsupportedError
            An argument is no model or number; the model is planar.
        """
        a_model("BoxDrag.of_bodies: model", model)
        if model.algebra.dimension != 6:
            raise UnsupportedError("BoxDrag.of_bodies: the model is planar; model.spatial has boxes", feature="planar")
        found = []
        for i in model.outward():
            name = model.body_names[i]
            I = model.frame(name).X_FB @ model.I[i]
            mass, h = float(I.m), np.array([*I.h], float)
            if mass < LEAST:
                continue
            about = np.array(I.I.matrix.rows, float) - (h @ h * np.eye(3) - np.outer(h, h)) / mass
            moments, axes = np.linalg.eigh(about)
            axes = axes * np.sign(np.linalg.det(axes))
            size = np.sqrt(6.0 * np.maximum(moments.sum() - 2.0 * moments, LEAST) / mass)
            turn = quaternion_from_rotation(GeneralRotation(Matrix3([tuple(row) for row in axes.T.tolist()])))
            found.append(cls(f"fluid {name}", name, size, density, viscosity, wind, h / mass, turn))
        return tuple(found)

    @classmethod
    def example(cls, model, rng) -> BoxDrag:
        """On any frame, turned, in a fluid at rest, for the tests."""
        size, at, turn = rng.uniform(0.2, 0.6, 3), rng.normal(size=3), rng.normal(size=4)
        names = [frame.name for frame in model.frames]
        return cls("box_drag", str(rng.choice(names)), size, 3.0, 0.5, at=at, orientation=turn / np.linalg.norm(turn))
