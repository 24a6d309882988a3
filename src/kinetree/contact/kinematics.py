"""Contacts at a state: gaps, the Jacobian, and the accelerations that velocities alone give."""

from __future__ import annotations

from kinetree.algorithms.contacts import moving_contacts
from kinetree.algorithms.spec import Spec
from kinetree.compiler.function import Function
from kinetree.joints.dual import rate_of, value_of


def contact_kinematics(model, q, v):
    """`contact_jacobian`, `contact_bias` and `contact_gaps` in one: they share nearly all of their work."""
    J, bias, gaps = [], [], []
    for contact in moving_contacts(model, q, v):
        gaps.append(value_of(contact.gap))
        for row in contact.rows:
            J.append([value_of(row.get(k, 0.0)) for k in range(model.nv)])
            bias.append(sum((rate_of(x) * v[k] for k, x in row.items()), 0.0))
    return J, bias, gaps


CONTACT_KINEMATICS = Spec(
    "contact_kinematics",
    contact_kinematics,
    {"q": ("nq",), "v": ("nv",)},
    {},
    {"J": ("n_contact_rows", "nv"), "bias": ("n_contact_rows",), "gaps": ("n_contacts",)},
    body_frames="cheaper",
)


def kinematics_function(model) -> Function:
    """`contact_kinematics` compiled, kept beside the model."""
    key = "contact kinematics"
    return model.functions.get(key) or model.functions.setdefault(
        key, Function(CONTACT_KINEMATICS, model, (), {}, False)
    )
