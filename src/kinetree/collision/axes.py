"""The axes of a contact: two tangents for a normal, without a branch."""

from __future__ import annotations

from kinetree.spatial import Vector3
from kinetree.spatial.scalar import where


def contact_axes(n: Vector3) -> tuple[Vector3, Vector3, Vector3]:
    """``(t1, t2, n)``, orthonormal and right-handed, for a unit normal.

    Parameters
    ----------
    n : Vector3
        Unit normal, over any scalar [1].

    Returns
    -------
    tuple of Vector3
        Unit vectors in the same axes as n [1].

    Notes
    -----
    Source: Duff et al. (2017), "Building an orthonormal basis, revisited", listing 3. The tangents are continuous in n
    but for n.z = 0, where they jump.

    Examples
    --------
    >>> import kinetree as kt
    >>> [tuple(axis) for axis in kt.collision.contact_axes(kt.spatial.Vector3(0.0, 0.0, 1.0))]
    [(1.0, -0.0, -0.0), (-0.0, 1.0, -0.0), (0.0, 0.0, 1.0)]
    """
    s = 1.0 if isinstance(n.z, float) and n.z >= 0.0 else where(n.z >= 0.0, 1.0, -1.0)
    a = -1.0 / (s + n.z)
    b = n.x * n.y * a
    return Vector3(1.0 + s * n.x * n.x * a, s * b, -(s * n.x)), Vector3(b, s + n.y * n.y * a, -n.y), n
