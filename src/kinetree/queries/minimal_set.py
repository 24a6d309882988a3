"""The smallest set of contact points that allows the same motions and bears the same wrenches.

Source: Featherstone (2008), section 11.6: a contact normal that is a sum of others with coefficients of 0 or more adds
no constraint, and its force can be shared among them without change of the total wrench.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, number
from kinetree.model.parts import check_finite, read_only


@dataclass(frozen=True, slots=True, eq=False)
class MinimalContactSet:
    """Contacts that remain, and the others as sums of them.

    Attributes
    ----------
    kept : (m,) array of int
        Places of the contacts that remain, in their order.
    shares : (m, n) array
        Column j holds the coefficients of contact j, 0 or more: ``wrenches.T = wrenches[kept].T @ shares`` [1].
    """

    kept: np.ndarray
    shares: np.ndarray

    def __post_init__(self) -> None:
        for name in ("kept", "shares"):
            read_only(getattr(self, name))

    def __len__(self) -> int:
        return len(self.kept)

    def redistribute(self, forces) -> np.ndarray:
        """Forces of the contacts that remain, with the total wrench that those of all contacts have.

        Parameters
        ----------
        forces : (n,) array
            Magnitudes along the normals of all contacts [N].

        Returns
        -------
        (m,) array
            [N]; none is negative if no force is.

        Raises
        ------
        ArgumentError
        """
        return self.shares @ array("redistribute: forces", forces, shape=(self.shares.shape[1],))


def contact_wrenches(positions, normals) -> np.ndarray:
    """Unit forces along contact normals as spatial forces.

    Parameters
    ----------
    positions : (n, 3) array
        Points of contact in world coordinates [m].
    normals : (n, 3) array
        Unit normals [1].

    Returns
    -------
    (n, 6) array
        Moment about the origin of the world [m], and force [1].

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> contact_wrenches([[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]]).tolist()
    [[0.0, -1.0, 0.0, 0.0, 0.0, 1.0]]
    """
    p = array("contact_wrenches: positions", positions, shape=(None, 3))
    n = array("contact_wrenches: normals", normals, shape=(len(p), 3))
    return np.hstack([np.cross(p, n), n])


def minimal_contact_set(wrenches, *, tolerance: float = 1e-9) -> MinimalContactSet:
    """Remove the contacts whose normals are positively dependent on those of others.

    Parameters
    ----------
    wrenches : (n, 6) array or Manifold
        Contact normals as spatial forces, [moment; force] about any point [m, 1]; or normals (n, 3) of contacts at one
        point [1]. Of a manifold, the points of one pair or of one body.
    tolerance : float
        Largest distance of a removed normal from the sum of others, relative to its size [1].

    Returns
    -------
    MinimalContactSet
        With the fewest contacts that bear the same wrenches, if no combination of all normals vanishes; else no contact
        of it can be removed, but there may be smaller ones.

    Raises
    ------
    ArgumentError, NonFiniteError

    Notes
    -----
    Source: Featherstone (2008), section 11.6, figure 11.7. One problem of nonnegative least squares for each contact
    (Lawson and Hanson, SciPy's ``nnls``), those in the middle first. Moments are taken about the center of the
    contacts, in units of their extent, which leaves positive dependence as it is.

    Examples
    --------
    >>> square = [[x, y, 0.0] for x, y in ((0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5))]
    >>> up = [[0.0, 0.0, 1.0]] * 5
    >>> found = minimal_contact_set(contact_wrenches(square, up))
    >>> found.kept.tolist(), found.redistribute([0.0, 0.0, 0.0, 0.0, 4.0]).sum().round(12)
    ([0, 1, 2, 3], np.float64(4.0))
    """
    if hasattr(wrenches, "position") and hasattr(wrenches, "normal"):
        wrenches = contact_wrenches(wrenches.position, wrenches.normal)
    W = array(
        "minimal_contact_set: wrenches", wrenches, "contact normals as spatial forces, (n, 6)", shape=(None, None)
    )
    number("minimal_contact_set: tolerance", tolerance, "a number above 0", above=0.0)
    check_finite("minimal_contact_set: wrenches: one", W[~np.isfinite(W)][:1])
    A = _scaled(W).T
    kept = list(range(A.shape[1]))
    center = A.mean(axis=1, keepdims=True) if kept else A
    for j in np.argsort(np.linalg.norm(A - center, axis=0), kind="stable"):
        others = [k for k in kept if k != j]
        if others and _misfit(A[:, others], A[:, j])[1] <= tolerance:
            kept = others
    shares = np.zeros((len(kept), A.shape[1]))
    for j in range(A.shape[1]):
        shares[:, j] = np.eye(len(kept))[kept.index(j)] if j in kept else _misfit(A[:, kept], A[:, j])[0]
    return MinimalContactSet(np.array(kept, dtype=int), shares)


def _scaled(W: np.ndarray) -> np.ndarray:
    """Wrenches with moments about their center, in units of their extent; other vectors as they are."""
    if W.shape[1] != 6 or not len(W):
        return W
    moment, force = W[:, :3], W[:, 3:]
    squared = np.maximum((force**2).sum(axis=1, keepdims=True), np.finfo(float).tiny)
    feet = np.cross(force, moment) / squared  # the points of the lines of action nearest to the origin
    moment = moment - np.cross(feet.mean(axis=0), force)
    extent = np.linalg.norm(moment, axis=1).max() / np.sqrt(squared.max())
    return np.hstack([moment / (extent or 1.0), force])


def _misfit(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients of 0 or more of the columns nearest to b, and the distance, relative to b."""
    from scipy.optimize import nnls

    x, distance = nnls(A, b, maxiter=30 * A.shape[1] + 30)
    return x, distance / (np.linalg.norm(b) or 1.0)
