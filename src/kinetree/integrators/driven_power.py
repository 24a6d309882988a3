"""Power of joints that depend on time, which also carry the forces of contacts and the momentum that these change.

It is linear in the accelerations. Impulses of contacts and bounded rows change velocities in an instant, so the part of
the accelerations is summed over steps, with the change of velocities in each; the rest is integrated.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.contacts import detect
from kinetree.algorithms.element_powers import element_powers
from kinetree.algorithms.prescribed import prescribed_power
from kinetree.integrators.kernels import FORCES, part
from kinetree.integrators.system import System
from kinetree.state_kinematics import Kinematics


def _driven_power(model, q, w, a, forces, f_ext=None, u=None):
    """Power by the motion, without accelerations; and by these and the forces of contacts."""
    v, x = w[: model.nv], w[model.nv :] if model.nx else None
    smooth = prescribed_power(model, q, v, [0.0] * model.nv, f_ext)
    sudden = prescribed_power(model, q, v, a, f_ext) - smooth
    for n, contact in enumerate(detect(model, Kinematics(model, q))):
        for force, rate in zip(forces[3 * n : 3 * n + 3], contact.driven, strict=True):
            sudden = sudden - force * rate
    if model.laws:
        smooth = smooth - sum((beyond for _, beyond in element_powers(model, q, v, x, u)), start=0.0)
    return [smooth, sudden]


DRIVEN = part(
    "driven_power", _driven_power, "q[nq] w[nw] a[nv] forces[n_contact_rows]", "powers[#2]", FORCES, domains=()
)


def driven_powers(system: System, q, w, a, forces, given=()) -> np.ndarray:
    """Powers [W] of joints that depend on time, (..., 2): by the motion, and by accelerations and contact forces.

    Parameters
    ----------
    system : System
    q, w : (..., nq) and (..., nw) arrays
        Internal states may follow the velocities.
    a : (..., nv) array
    forces : (..., n_contact_rows) array
        Of contacts along their axes [N].
    given : tuple
        The time [s], and wrenches and inputs of force elements if there are some.
    """
    q, w, a, forces = map(np.ascontiguousarray, (q, w, a, forces))
    return system.function(DRIVEN, checks=False)(q, w, a, forces, *given)
