"""Bodies that cost digits by their numbers alone: frames far from the mass, and very unequal inertias."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.identify.consistency import pseudo_inertia
from kinetree.model import Model
from kinetree.model.inertial_parameters import inertial_parameters

FAR = 2.0  # radii of gyration


@dataclass(frozen=True, slots=True)
class FarBody:
    """A body whose frame is far from its mass.

    Parameters
    ----------
    name : str
    distance : float
        Of its center of mass from the origin of its frame [m].
    radius_of_gyration : float
        About its center of mass, the largest of the three [m].
    """

    name: str
    distance: float
    radius_of_gyration: float

    @property
    def ratio(self) -> float:
        """The distance in radii of gyration; errors grow with its square."""
        return self.distance / self.radius_of_gyration


@dataclass(frozen=True, slots=True)
class Ratio:
    """The largest of some quantity among the bodies over the smallest.

    Parameters
    ----------
    what : str
        "mass", or "inertia": the largest principal moment about the center of mass.
    value : float
    largest, smallest : str
        The bodies.
    """

    what: str
    value: float
    largest: str
    smallest: str


def far_bodies(model: Model) -> list[FarBody]:
    """The bodies whose center of mass is more than two radii of gyration from their frame, farthest first.

    Parameters
    ----------
    model : Model

    Returns
    -------
    list of FarBody
        Point masses, which have no radius of gyration, are left out.

    Notes
    -----
    Source: Featherstone (2008), section 10.1.
    """
    found = []
    for name, m, c, gyration in _bodies(model):
        if m > 0.0 and gyration > 0.0 and c > FAR * gyration:
            found.append(FarBody(name, c, gyration))
    return sorted(found, key=lambda body: -body.ratio)


def inertia_ratios(model: Model) -> Iterator[Ratio]:
    """The ratios of the masses and of the rotational inertias of the bodies that have some.

    Parameters
    ----------
    model : Model
    """
    bodies = list(_bodies(model))
    quantities = {"mass": [(m, name) for name, m, _, _ in bodies],
                  "inertia": [(m * gyration**2, name) for name, m, _, gyration in bodies]}  # fmt: skip
    for what, values in quantities.items():
        values = [entry for entry in values if entry[0] > 0.0]
        if len(values) > 1:
            (low, smallest), (high, largest) = min(values), max(values)
            yield Ratio(what, high / low, largest, smallest)


def _bodies(model: Model) -> Iterator[tuple[str, float, float, float]]:
    """Name, mass, distance of the center of mass and largest radius of gyration."""
    model = getattr(model, "spatial", model)  # of a planar one the mechanism in space
    for name, J in zip(model.body_names[1:], pseudo_inertia(inertial_parameters(model).reshape(-1, 10)), strict=True):
        m, h = float(J[3, 3]), J[:3, 3]
        if not m > 0.0:
            yield name, m, 0.0, 0.0
            continue
        P = J[:3, :3] - np.outer(h, h) / m  # second moments about the center of mass
        moments = np.linalg.eigvalsh(P)
        largest = float(moments[1] + moments[2])  # a principal moment of inertia is the sum of the other two
        residue = 1e-13 * float(np.trace(J[:3, :3]))
        gyration = math.sqrt(largest / m) if largest > residue else 0.0
        yield name, m, float(np.linalg.norm(h)) / m, gyration
