r"""Laws of contact as fixed points ``lambda = P(lambda - u)``, with the derivatives of the maps P.

`coulomb` is Signorini's condition with Coulomb's law of friction (Alart and Curnier 1991): the normal impulse onto
>= 0, the tangential one onto the disk of radius mu times that. `associated` projects onto the cone; its solutions
minimize ``lambda^T A lambda / 2 + lambda^T b`` over the cones (Anitescu 2006), and contacts that slide separate at
``mu |u_t|``. `given_radii` has known normal impulses (Tresca).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.compiler.row_function import RowFunction
from kinetree.contact.residuals import cone_projection, disk_projection
from kinetree.contact.terms import Terms
from kinetree.spatial.scalar import sqrt, where

Law = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""``law(y, friction)``: the impulses (n, 3) of points y (n, 3), and derivatives (n, 3, 3)."""


def coulomb(y: np.ndarray, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals onto >= 0, tangential impulses onto disks whose radii follow."""
    impulses, D = COULOMB(y=np.ascontiguousarray(y, float), friction=np.ascontiguousarray(friction, float))
    return impulses, D.reshape(-1, 3, 3)


def _coulomb(y, friction):
    """The map of one contact, and its derivatives by rows."""
    x, t, n = y
    closed = where(n > 0.0, 1.0, 0.0)
    radius, square = friction * closed * n, x * x + t * t
    slips = square > radius * radius
    size = sqrt(where(slips, square, 1.0))
    x_part, t_part = x / size, t / size
    scale = where(slips, radius / size, 1.0)
    slope, stuck = where(slips, friction * closed, 0.0), where(slips | (radius <= 0.0), 0.0, 1.0)
    across = where(slips, scale, 0.0)
    mixed = -across * x_part * t_part
    return (
        [x * scale, t * scale, closed * n],
        [across * t_part * t_part + stuck, mixed, slope * x_part,
         mixed, across * x_part * x_part + stuck, slope * t_part, 0.0, 0.0, closed],
    )  # fmt: skip


COULOMB = RowFunction("Coulomb's law", _coulomb, "y[3] friction", "impulse[3] D[9]")


def associated(y: np.ndarray, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of the cones."""
    size, D = np.hypot(y[:, 0], y[:, 1]), np.zeros((len(y), 3, 3))
    inside = (size <= friction * y[:, 2]) & (y[:, 2] > 0.0)
    D[inside] = np.eye(3)
    surface = ~inside & (y[:, 2] + friction * size > 0.0)
    mu, d = friction[surface], _directions(y[surface])
    normal = (y[surface, 2] + mu * size[surface]) / (1.0 + mu**2)
    ray = np.column_stack([mu[:, None] * d, np.ones(len(mu))]) / np.sqrt(1.0 + mu**2)[:, None]
    D[surface] = ray[:, :, None] * ray[:, None, :]
    D[surface, :2, :2] += (mu * normal / np.where(size[surface] > 0.0, size[surface], 1.0))[:, None, None] * _across(d)
    return cone_projection(y, friction), D


def given_radii(radii: np.ndarray, normal: np.ndarray) -> Law:
    """Tangential impulses in disks, normal impulses given."""

    def law(y, friction):
        tangential, D = _disks(y, radii)
        return np.column_stack([tangential, normal]), D

    return law


def deviation(terms: Terms, x: np.ndarray, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """``x - P(x - u(x))`` and P', a matrix of blocks on the diagonal."""
    n, y = terms.count, x - terms.velocities(x)
    contacts, blocks = law(y[: 3 * n].reshape(n, 3), terms.friction)
    lower, upper = terms.bounds.T
    rows, each = y[3 * n :], np.arange(n)
    D = np.zeros((len(y), len(y)))
    D[: 3 * n, : 3 * n].reshape(n, 3, n, 3)[each, :, each, :] = blocks
    inner = np.arange(3 * n, len(y))
    D[inner, inner] = (rows > lower) & (rows < upper)
    return x - np.concatenate([contacts.ravel(), np.clip(rows, lower, upper)]), D


def _disks(y: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size, D = np.hypot(y[:, 0], y[:, 1]), np.zeros((len(y), 3, 3))
    inside = (size <= radius) & (radius > 0.0)
    D[inside, 0, 0] = D[inside, 1, 1] = 1.0
    slip = size > radius
    D[slip, :2, :2] = (radius[slip] / size[slip])[:, None, None] * _across(_directions(y[slip]))
    return disk_projection(y[:, :2], radius), D


def _directions(y: np.ndarray) -> np.ndarray:
    size = np.hypot(y[:, 0], y[:, 1])
    return y[:, :2] / np.where(size > 0.0, size, 1.0)[:, None]


def _across(d: np.ndarray) -> np.ndarray:
    return np.eye(2) - d[:, :, None] * d[:, None, :]
