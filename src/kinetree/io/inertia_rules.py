"""Rotational inertias that a body can have, and the treatment of all others.

A body is a distribution of mass, so the second moments about its center of mass, Sigma = integral of x x^T dm, form a
positive semidefinite matrix, and I = tr(Sigma) 1 - Sigma. Equivalently the principal moments are not negative and none
exceeds the sum of the other two. Files break this rule often: tensors typed in by hand, taken about another point, or
with the signs of products and moments mixed up. The tolerances are the model's: in public robots violations are either
below 1e-18 m^2 times the mass, which is rounding, or above 1e-3 of the largest moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.errors import InertiaError
from kinetree.model.validation import GYRATION_TOLERANCE, INERTIA_TOLERANCE

ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
MIRRORED = {"ixy": "iyx", "ixz": "izx", "iyz": "izy"}  # formats have the upper triangle; some files state both
REPAIRS = {  # by the code of the broken rule
    "negative-mass": "No repair exists for a negative mass",
    "inertia-without-mass": "A body without mass has no inertia: give it the mass it has, or the inertia 0; "
    "inertia='project' loads it with the inertia 0",
    "impossible-inertia": "Was the tensor given about another point, or with a wrong sign? To load anyway, choose a "
    "repair: inertia='project' takes the nearest possible tensor, 'diagonal' drops the products of inertia, 'accept' "
    "takes it as it is",
}
STILL_IMPOSSIBLE = (
    "Without its products of inertia it is still impossible; inertia='project' takes the nearest possible tensor"
)
ONE_TRIANGLE = "the format has the entries above the diagonal alone; remove the others"


def violation(mass: float, I: np.ndarray) -> str | None:
    """Return the rule that a mass and a tensor about the center of mass break; None if a body can have them.

    Parameters
    ----------
    mass : float
        In kg.
    I : (3, 3) array
        Rotational inertia about the center of mass, kg m^2, any axes.

    Examples
    --------
    >>> violation(1.0, np.diag([1.0, 1.0, 1.0]))
    >>> violation(1.0, np.diag([1.0, 1.0, 3.0]))
    'principal moments (1, 1, 3) break I3 <= I1 + I2 by 1 kg m^2'
    """
    if mass < 0.0:
        return f"mass {mass:g} kg is negative"
    moments = np.linalg.eigvalsh(I)
    tolerance = INERTIA_TOLERANCE * np.abs(moments).max() + GYRATION_TOLERANCE**2 * mass
    if mass == 0.0:
        return None if not I.any() else f"mass is 0, but the inertia is not (largest moment {moments[2]:g} kg m^2)"
    # Adding 0.0 turns a rounded -0.0 into 0.
    rounded = np.where(np.abs(moments) < 1e-12 * np.abs(moments).max(), 0.0, moments) + 0.0
    shown = ", ".join(f"{moment:.6g}" for moment in rounded)
    if moments[0] < -tolerance:
        return f"principal moments ({shown}) are not all positive"
    excess = moments[2] - moments[0] - moments[1]
    if excess > tolerance:
        return f"principal moments ({shown}) break I3 <= I1 + I2 by {excess:.6g} kg m^2"
    return None


def asymmetry(tensor: Mapping[str, float], below: Mapping[str, float]) -> str | None:
    """Return the entry below the diagonal that differs from its mirror image; None if there is none.

    Parameters
    ----------
    tensor, below : mapping of str to float
        The entries by name: on and above the diagonal, and those of the ones below it that a file states.

    Examples
    --------
    >>> asymmetry({"ixy": 0.1, "ixz": 0.0, "iyz": 0.0}, {"iyx": -0.1})
    'the tensor is not symmetric: ixy is 0.1, iyx is -0.1'
    """
    for name, mirrored in MIRRORED.items():
        if mirrored in below and abs(below[mirrored] - tensor[name]) > 0.0:  # never of NaN
            return f"the tensor is not symmetric: {name} is {tensor[name]:g}, {mirrored} is {below[mirrored]:g}"
    return None


def project(mass: float, I: np.ndarray) -> np.ndarray:
    """Return the possible tensor whose second moments Sigma are nearest (Frobenius); mass and center of mass stay.

    Examples
    --------
    >>> print(project(1.0, np.diag([1.0, 1.0, 3.0])).round(12) + 0.0)
    [[1.5 0.  0. ]
     [0.  1.5 0. ]
     [0.  0.  3. ]]
    """
    if mass == 0.0:
        return np.zeros((3, 3))
    Sigma = 0.5 * np.trace(I) * np.eye(3) - I
    moments, axes = np.linalg.eigh(Sigma)
    Sigma = (axes * np.maximum(moments, 0.0)) @ axes.T
    return np.trace(Sigma) * np.eye(3) - Sigma


def settle(
    mass: float, I: np.ndarray, choice: str, who: str, fail: Callable[..., Exception]
) -> tuple[np.ndarray, str | None]:
    """Apply the user's choice to one body.

    Parameters
    ----------
    mass : float
        In kg.
    I : (3, 3) array
        Rotational inertia about the center of mass, in the axes of the file.
    choice : {"raise", "project", "diagonal", "accept"}
    who : str
        The body, for the message.
    fail : callable
        ``fail(message, error type, code=, repair=, ...)`` builds an error with its place.

    Returns
    -------
    I : (3, 3) array
    change : str or None
        Description of the change, for the report.

    Raises
    ------
    InertiaError
        If the inertia is impossible and the choice does not repair it.
    """
    rule = violation(mass, I)
    if rule is None:
        return I, None
    if choice == "accept" and mass >= 0.0:
        return I, f"impossible inertia taken as it is: {rule}"
    if choice == "diagonal" and violation(mass, np.diag(np.diag(I))) is None:
        return np.diag(np.diag(I)), f"{rule}; the products of inertia were dropped"
    if choice == "project" and mass >= 0.0:
        return project(mass, I), f"{rule}; replaced by the nearest possible tensor"
    code = "negative-mass" if mass < 0.0 else "inertia-without-mass" if mass == 0.0 else "impossible-inertia"
    repair = STILL_IMPOSSIBLE if code == "impossible-inertia" and choice == "diagonal" else REPAIRS[code]
    raise fail(f"{who}: {rule}", InertiaError, code=code, repair=repair, mass=mass, inertia=I, rule=rule)


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """Mass [kg], center of mass [m] and tensor about it [kg m^2], in the frame of a link."""

    mass: float
    com: np.ndarray
    I: np.ndarray

    def seen_from(self, R: np.ndarray, p: np.ndarray) -> Mass:
        """The same mass in the frame in which this one has a pose."""
        I = R @ self.I @ R.T
        return Mass(self.mass, R @ self.com + p, 0.5 * (I + I.T))


NO_MASS = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


def settle_link(name: str, mass: float, I: np.ndarray, choice: str, node, notes, mass_node=None) -> np.ndarray:
    """The tensor of a link by `settle`, its changes reported and its errors with the place in the file.

    Parameters
    ----------
    name : str
        The link.
    mass, I, choice
        As for `settle`.
    node, mass_node : Node
        The element that states the tensor, and the one for a negative mass if it is another.
    notes : XMLNotes
    """

    def fail(message: str, error: type, *, code: str, **values: object) -> Exception:
        at = mass_node if mass_node is not None and code == "negative-mass" else node
        return at.fail(message, error, code=code, link=name, **values)

    I, change = settle(mass, I, choice, f"link '{name}'", fail)
    if change is not None:
        notes.warning(node, f"link '{name}': {change}", "impossible-inertia")
    return I
