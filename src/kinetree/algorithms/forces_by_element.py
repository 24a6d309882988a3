"""The forces of every force element on its own: tensions, wrenches, energies and powers."""

from __future__ import annotations

from kinetree.algorithms.domain import LIMITS, UNIT_QUATERNIONS
from kinetree.algorithms.element_powers import element_powers
from kinetree.algorithms.force_elements import (
    dissipative_forces,
    element_joint_forces,
    in_coordinates,
    laws,
    wrenches_of,
)
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.spec import algorithm
from kinetree.state_kinematics import Kinematics

_EACH = ("n_elements",)


@algorithm(
    inputs="q v",
    optional="x u",
    outputs={
        "tau": ("n_elements", "nv"), "wrenches": ("n_elements", "nb", 6), "energy": _EACH, "power": _EACH,
        "length": _EACH, "rate": _EACH, "tension": _EACH,
    },
    domains=(UNIT_QUATERNIONS, LIMITS),
    body_frames="laws",
    symbols={
        "tau": "Joint forces of each element of ``model.element_names`` [N m or N].",
        "wrenches": "[moment; force] on each body [N m, N], in world coordinates about the world's origin, as f_ext; "
        "row 0 is the reaction on the world. Forces along coordinates of joints are in tau alone.",
        "energy": "Stored energy [J].",
        "power": "Power of the forces that no stored energy explains [W], negative where the element dissipates.",
        "length": "Of laws along one length; zero for others [m or rad].",
        "rate": "Its rate [m/s or rad/s].",
        "tension": "Force that shortens the length where it is positive [N or N m].",
    },
)  # fmt: skip
def forces_by_element(model, q, v, x=None, u=None):
    """Forces, energies and powers of every force element, and length and tension of those along a line.

    Notes
    -----
    Source: the laws of ``model.elements`` and of the forces in loop joints, in the order of ``model.element_names``.
    Identities: the rows of tau add up to the part of `passive_joint_forces` that is not of joints, and of
    `actuator_joint_forces`; ``tau @ v`` is the power less the rate of the energy, unless joints depend on time; tau of
    elements between frames is ``-external_forces(q, wrenches)``. Joint ranges of actuator forces act on tau, not on
    wrenches and tensions.

    See Also
    --------
    passive_joint_forces, elastic_energy, external_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.pendulum().with_forces(kt.forces.PointSpring("rope", "world", "bob", 50.0, 0.4,
    ...                                                                start_at=(0.0, 0.0, 1.0)))
    >>> found = kt.dynamics.forces_by_element(model, [0.0], [0.0])
    >>> k = model.element_names.index("rope")
    >>> round(float(found.tension[k]), 9), round(float(found.energy[k]), 9)
    (30.0, 9.0)
    """
    kin, found = Kinematics(model, q, v), laws(model, x, u)
    tau = element_joint_forces(model, q, v, x, u)
    if model._clock is not None:  # joints that move by themselves: tau v leaves a part out
        power = [of_one for of_one, _ in element_powers(model, q, v, x, u)]
    else:
        power = [dot(force, v) for force in dissipative_forces(model, q, v, x, u)]
    wrenches, energy, lines = [], [], []
    for law in found:
        of_bodies, _ = wrenches_of(model, kin, [(law.leaves, [*law.conservative, *law.other])])
        wrenches.append([[*wrench] for wrench in of_bodies])
        energy.append(law.leaves.outer([law.energy], kin)[0])
        lines.append(_line(law, kin, v))
    return (tau, wrenches, energy, power, *([line[k] for line in lines] for k in range(3)))


def _line(law, kin: Kinematics, v) -> tuple:
    """Length, rate and tension of a law along one length; zeros for others."""
    if len(law.lengths) != 1:
        return 0.0, 0.0, 0.0
    ((length, row, tension),) = law.lengths
    length, tension = law.leaves.outer([length, tension], kin)
    return length, sum((x * v[k] for k, x in in_coordinates(law.leaves, kin, row).items()), start=0.0), tension
