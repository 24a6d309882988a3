"""Base inertial parameters: the parts of a body's inertia that no joint force depends on are regrouped to the parent.

A mass on the axis of a revolute joint might as well be fixed to the parent: joint forces are the same. So is every
inertia Delta on the successor with ``X_J^T Delta X_J = Delta`` for all q and ``Delta S = 0``. Among the moments of mass
(m, h, P) of a body, h the first and P the second ones, m, h_z and P_zz are regroupable at a revolute joint about z.
Regrouped from body to body towards the root, they leave seven numbers to every body on a revolute joint, and no mass.

Joint forces for given motions are the same, to the last term; forces between bodies do not. So these inertias
are used where only joint forces are computed. They depend on the model's numbers alone and are computed once per model.
"""

from __future__ import annotations

from kinetree.spatial import Inertia, Symmetric3, Vector3
from kinetree.spatial.algebra import SPATIAL

MOMENTS = ("m", "h.x", "h.y", "h.z", "P.xx", "P.xy", "P.yy", "P.xz", "P.yz", "P.zz")

# Prices in operations of a body's inertial force, 33m + 30a with all moments: m takes part in 3m + 3a, a component of h
# in 5m + 5a, one of P on the diagonal in 2m + 2a, off the diagonal in 3m + 3a.
PRICE = {"m": 6, "h.x": 10, "h.y": 10, "h.z": 10, "P.xx": 4, "P.yy": 4, "P.zz": 4, "P.xy": 6, "P.xz": 6, "P.yz": 6}

DEEP = 16
"""Bodies on a path from the root from which forward dynamics have the bodies' own inertias: the mass that base
inertias move towards the root is taken off again joint by joint, which costs digits in long chains (errors 2.3 times
larger at 30 bodies)."""


def base_inertias_unless_deep(model, depths=None) -> tuple:
    """`base_inertias`, in long chains the inertias of the bodies; ``depths`` if they are not those of the tree."""
    return model.I if max(model.depth if depths is None else depths) > DEEP else base_inertias(model)


def base_inertias(model) -> tuple:
    """Inertias that need the same joint forces as the bodies' own for every motion of the tree.

    Parameters
    ----------
    model : Model or ScalarModel

    Returns
    -------
    tuple of Inertia
        One for each body. They need not be those of possible bodies: masses are zero on most joints.

    Notes
    -----
    Source: Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots" (1990);
    augmented bodies, Wittenburg (1977). Differs: written with the second moments P, in which the regroupable
    parts are single numbers; an inertia stays where moving it would cost the parent more than it saves.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum().reframed()
    >>> [I.m for I in base_inertias(arm)[1:]]
    [0.0, 0.0]
    """
    if model.algebra is not SPATIAL:
        return tuple(model.I)
    moments = [_moments(I) for I in model.I]
    changed = set()
    for i in model.inward():
        p, names = model.parent[i], model.joints[i].regroupable
        regrouped = {name: moments[i][name] for name in names if not _vanishes(moments[i][name])}
        if not regrouped:
            continue
        changed.add(i)
        if not p:
            moments[i] |= dict.fromkeys(regrouped, 0.0)
            continue
        arriving = _seen_from_parent(model.X_T[i], regrouped)
        kept = set(MOMENTS).difference(model.joints[p].regroupable)
        filled = sum(PRICE[n] for n in kept if _vanishes(moments[p][n]) and not _vanishes(arriving[n]))
        if filled > sum(PRICE[name] for name in regrouped):
            continue
        moments[i] |= dict.fromkeys(regrouped, 0.0)
        moments[p] = {n: _sum(x, arriving[n]) for n, x in moments[p].items()}
        changed.add(p)
    return tuple(_inertia(moments[i]) if i in changed else I for i, I in enumerate(model.I))


def _vanishes(x) -> bool:
    """Whether x is zero for all numbers of the model: a float or a constant of a trace."""
    x = getattr(x, "constant", x)
    return isinstance(x, float) and x == 0.0


def _sum(x, y):
    return x if _vanishes(y) else y if _vanishes(x) else x + y


def _moments(body: Inertia) -> dict:
    return dict(zip(MOMENTS, (body.m, *body.h, *body.second_moments), strict=True))


def _inertia(moments: dict) -> Inertia:
    m, x, y, z, *P = moments.values()
    return Inertia.from_moments(m, Vector3(x, y, z), Symmetric3(*P))


def _seen_from_parent(X, regrouped: dict) -> dict:
    """The moments about the origin that X starts from: turned, then ``P + r h^T + (h + m r) r^T``."""
    m, x, y, z, *P = (regrouped.get(name, 0.0) for name in MOMENTS)
    E, r = X.E, X.r
    h, P = E.inverse_apply(Vector3(x, y, z)), E.inverse_congruence(Symmetric3(*P))
    g = h + r * m
    P = Symmetric3(
        *(P.xx + r.x * h.x + g.x * r.x, P.xy + r.x * h.y + g.x * r.y, P.yy + r.y * h.y + g.y * r.y),
        *(P.xz + r.x * h.z + g.x * r.z, P.yz + r.y * h.z + g.y * r.z, P.zz + r.z * h.z + g.z * r.z),
    )
    return dict(zip(MOMENTS, (m, *g, *P), strict=True))
