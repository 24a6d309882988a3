"""Contacts at a state: gaps, the Jacobian, and the accelerations that velocities alone give."""

from __future__ import annotations

from kinetree.algorithms.contacts import moving_contacts
from kinetree.algorithms.spec import Spec
from kinetree.compiler.function import Function
from kinetree.joints.dual import rate_of, value_of


def contact_kinematics(model, q, v):
    """`contact_jacobian`, `contact_bias`, the contact velocities and `contact_gaps` in one: they share most work."""
    J, bias, rates, gaps = [], [], [], []
    for contact in moving_contacts(model, q, v):
        gaps.append(value_of(contact.gap))
        J += [[value_of(row.get(k, 0.0)) for k in range(model.nv)] for row in contact.rows]
        for rate in contact.rates(v):
            bias.append(rate_of(rate))
            rates.append(value_of(rate))
    return J, bias, rates, gaps


CONTACT_KINEMATICS = Spec(
    "contact_kinematics",
    contact_kinematics,
    {"q": ("nq",), "v": ("nv",)},
    {},
    {"J": ("n_contact_rows", "nv"), "bias": ("n_contact_rows",), "rates": ("n_contact_rows",), "gaps": ("n_contacts",)},
    body_frames="cheaper",
)


def kinematics_function(model) -> Function:
    """`contact_kinematics` compiled, kept beside the model."""
    key = "contact kinematics"
    return model.functions.get(key) or model.functions.setdefault(
        key, Function(CONTACT_KINEMATICS, model, (), {}, False)
    )
