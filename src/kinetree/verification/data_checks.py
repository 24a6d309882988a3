"""Invariants of a model's data: placements are rigid motions, inertias are those that bodies can have."""

from __future__ import annotations

import numpy as np

from kinetree.model.numbers import numbers_of
from kinetree.verification.check import Check, Compared, LeftOut
from kinetree.verification.terms import EPS

ROTATION = 1e-12  # models snap rotations at 1e-13 per entry (kinetree.model), nine products are summed
IMPOSSIBLE = 1e-6  # of the largest moment: the tolerance of models for the rounding of files


def finite(s):
    """No number of the model is NaN, and none but limits and the stiffness of rigid contacts is infinite."""
    values = numbers_of(s.model).values
    names = s.model.numbers().names
    elements = {f"{element.name}.{name}" for element in s.model.elements for name in element.numbers()}
    elements |= {f"{pair.name}.stiffness" for pair in s.model.contacts}
    limits = [name in elements or name.rpartition(".")[2] in ("lower", "upper") for name in names]
    unlimited = np.array(limits) & np.isinf(values)
    return Compared(np.where(np.isfinite(values) | unlimited, 0.0, values)[None], 0.0, 0.0, ("number",))


def _finite_numbers(s):
    if not np.all(finite(s).found == 0.0):
        raise LeftOut("its numbers are not finite")


def rotations(s):
    """E E^T = 1 with determinant 1, of the placements of all joints."""
    _finite_numbers(s)
    model = s.model
    found, expected = np.zeros((1, model.nb, 10)), np.append(np.eye(3).ravel(), 1.0)
    found[:, 0] = expected
    for i in model.outward():
        E = np.array(model.X_T[i].E.matrix.rows, float)
        found[0, i] = np.append((E @ E.T).ravel(), np.linalg.det(E))
    return Compared(found, np.broadcast_to(expected, found.shape), ROTATION, ("joint",))


def inertia_symmetry(s):
    """Inertias are symmetric matrices."""
    _finite_numbers(s)
    I = _inertias(s.model)
    return Compared(I, np.swapaxes(I, 2, 3), 0.0, ("body",))


def inertia_possible(s):
    """No moment of second order is negative about the center of mass, and no mass; the largest violation."""
    _finite_numbers(s)
    model, I = s.model, _inertias(s.model)[0]
    short, tolerance = np.zeros((1, model.nb)), np.zeros((1, model.nb))
    for i in model.outward():
        m, h = float(model.I[i].m), np.array([float(x) for x in model.I[i].h])
        about_c = I[i] - ((h @ h) * np.eye(3) - np.outer(h, h)) / (m or 1.0)
        second = np.trace(about_c) / 2.0 * np.eye(3) - about_c  # the second moments of mass, all >= 0
        short[0, i] = min(np.linalg.eigvalsh((second + second.T) / 2.0)[0], 0.0) + min(m, 0.0)
        size = np.abs(about_c).max()
        tolerance[0, i] = IMPOSSIBLE * size + 1e-12 * abs(m) + 1e2 * EPS * np.abs(I[i]).max()
        # Impossible inertias that the user accepted explicitly are no finding; their consequences appear in M.
        if model.accept_impossible_inertia:
            tolerance[0, i] = max(tolerance[0, i], -short[0, i])
    return Compared(short, 0.0, tolerance, ("body",))


def _inertias(model):
    I = np.zeros((1, model.nb, 3, 3))
    for i in model.outward():
        I[0, i] = np.array(model.I[i].I.matrix.rows, float)
    return I


CHECKS = (
    Check("data: numbers", "all", "finite", finite, "a number of the model is not finite", 0),
    Check("data: placements", "E E^T, det E", "1", rotations,
          "the placement of this joint is no rigid motion: an entry of its rotation is wrong", 0),
    Check("data: inertias", "I", "I^T", inertia_symmetry, "the inertia of this body is not symmetric", 0),
    Check("data: inertias", "second moments", ">= 0", inertia_possible, "no body can have this inertia", 0),
)  # fmt: skip
