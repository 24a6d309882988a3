"""The contact problem of a time step of a model: trees, closed mechanisms, single bodies and maximal coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, number
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input
from kinetree.errors import ModelError, UnsupportedError

WHAT = "ContactProblem.of"


def step_arguments(model, q, v, tau, dt, given: dict) -> dict:
    """The fields of the `StepProblem` of a model, see `ContactProblem.of`."""
    model = _with_contacts(model)
    a_model(f"{WHAT}: model", model)
    dt = number(f"{WHAT}: dt", dt, "a positive time in seconds", above=0.0)
    if not model.n_impulses:
        raise ModelError(
            f"{WHAT}: model {model.name!r} has no contact pairs and no bounded rows; use model.with_contacts(...)."
        )
    given = dict(given) | time_input("contact_terms", model, given.pop("t", None))
    terms = public_call("contact_terms")(model, q, v, tau, dt, **given)
    n = 3 * model.n_contacts
    chosen, shifts, bounds = bounded_parts(terms.laws[n:], n)
    all_rows = np.concatenate([np.arange(n), chosen]).astype(int)
    W, rates = terms.rows[all_rows], terms.rates[all_rows].copy()
    rates[n:] -= shifts
    labels = (*model.contact_labels, *(f"bounded row {k - n}" for k in chosen))
    friction = [pair.friction for pair in model.contacts for _ in range(pair.count)]
    return {
        "delassus": W @ W.T,
        "free_velocity": rates,
        "friction": np.array(friction, float),
        "compliance": terms.compliance,
        "labels": labels,
        "bias": -terms.targets,
        "bounds": bounds,
        "free_joint_velocities": terms.velocities,
        "responses": terms.responses[all_rows],
    }


def bounded_parts(laws: np.ndarray, first: int) -> tuple[list[int], list[float], np.ndarray]:
    """One row for friction, one for each bound of the rate: which row, the rate it acts at, bounds of its impulse."""
    rows, rates, bounds = [], [], []
    for k, (resistance, rest, lower, upper) in enumerate(laws, first):
        parts = [(rest, -resistance, resistance)] if resistance > 0.0 else []
        parts += [(lower, 0.0, np.inf)] if np.isfinite(lower) else []
        parts += [(upper, -np.inf, 0.0)] if np.isfinite(upper) else []
        for rate, least, most in parts:
            rows.append(k)
            rates.append(rate)
            bounds.append((least, most))
    return rows, rates, np.array(bounds, float).reshape(-1, 2)


def _with_contacts(model):
    """The model of a system in maximal coordinates, with the contact pairs of the reduced one."""
    if not hasattr(model, "reduced"):
        return model
    if model.along_joints:
        raise UnsupportedError(
            f"{WHAT}: model {model.reduced.name!r} in maximal coordinates has {', '.join(model.along_joints)}, which "
            "act along the coordinates of joints and are no part of the bodies; give the model itself"
        )
    return model.model.replace(contacts=model.reduced.contacts)
