"""Dynamic equivalence: other inertias with which a mechanism moves as before under the same joint forces.

Not every part of a body's inertia has an influence on joint forces. An inertia Delta may be regrouped from a body to
its parent if (Featherstone, eq. 9.30)

* ``Delta S = 0``: the joint's own motion takes no force,
* ``X_J^T Delta X_J = Delta``: seen from the parent, it is the same at every position, and
* ``S^T (v x* Delta v) = 0`` for every velocity v of the parent, which follows from the other two where S is constant in
  one of the two bodies.

``joint.regroupable`` (table 9.7) names these parts among the moments of mass (m, h, P), P the second moments
``tr(I)/2 1 - I``: m, h_z and P_zz for a revolute joint, the six moments P for a prismatic one, m for a spherical one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.arguments import a_model, a_truth_value, a_word, checked
from kinetree.errors import ModelError, unknown_name
from kinetree.model import Model
from kinetree.model.numbers import snapped, snapped_inertia
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3

MOMENTS = ("m", "h.x", "h.y", "h.z", "P.xx", "P.xy", "P.yy", "P.xz", "P.yz", "P.zz")
FORMS = ("inertia", "moments")


@dataclass(frozen=True, slots=True, eq=False)
class Simplification:
    """A model before and after its simplification.

    Parameters
    ----------
    before, after : Model
    regrouped : mapping of str to mapping
        From joints to the parts regrouped from their bodies: names of moments and their values [kg, kg m, kg m^2], in
        axes in which the joint is canonical (z along the axis of a revolute joint).
    zeros_before, zeros_after : int
        Parameters of all bodies that are zero in these axes.

    Notes
    -----
    ``operations()`` counts the operations saved.
    """

    before: Model
    after: Model
    regrouped: Mapping[str, Mapping[str, float]] = field(repr=False)
    zeros_before: int
    zeros_after: int

    def operations(self, *names: str) -> dict[str, tuple[int, int]]:
        """Operations of one evaluation, before and after, with an exact count on compiled code.

        Parameters
        ----------
        *names : str
            Algorithms; "rnea", "crba" and "aba" by default. "rnea" is that of the bodies as they are: ``kt.rnea``
            makes this simplification by itself.

        Returns
        -------
        dict
            From names to multiplications, additions and divisions of both models.
        """
        from kinetree.analysis.operation_counts import operation_counts

        names = names or ("rnea", "crba", "aba")
        counts = [operation_counts(model, names) for model in (self.before, self.after)]
        return {name: (counts[0][name], counts[1][name]) for name in names}

    def __str__(self) -> str:
        all_of_them = 10 * (self.before.nb - 1)
        lines = [f"{self.zeros_before} of {all_of_them} inertial parameters were zero, {self.zeros_after} are now"]
        for joint, parts in self.regrouped.items():
            lines.append(f"joint {joint!r}: {', '.join(f'{name} {x:.6g}' for name, x in parts.items())}")
        return "\n".join(lines)


@checked(model=a_model, form=a_word)
def simplify_inertias(model: Model, *, form: str = "inertia") -> tuple[Model, Simplification]:
    """A model with as many zero inertial parameters as its joints allow, and the same dynamics.

    Parameters
    ----------
    model : Model
    form : {"inertia", "moments"}
        Parameters that become zero: (m, h, I) as in the book, where the third zero of a body on a revolute joint is
        a moment of inertia across its axis; or (m, h, P) with the second moments P.

    Returns
    -------
    model : Model
        Its inertias need not be those of bodies: masses are zero or negative. Mass matrix, bias forces and everything
        in joint coordinates are those of ``model``; so are kinetic energy and momentum. If bodies on the
        world lose parameters, center of mass, total mass and the zero of potential energy change.
    report : Simplification

    Raises
    ------
    UnknownNameError
        For another form.

    Notes
    -----
    *Source* Featherstone (2008), section 9.7, eq. 9.29-9.30 and table 9.7. Differs: the parent gets nothing where this
    would fill more zeros than it makes.

    *Identities* ``rnea``, ``crba``, ``aba``, ``bias_forces``, ``kinetic_energy`` of both are the same.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.chain_gu(6)
    >>> simple, report = kt.surgery.simplify_inertias(arm)
    >>> simple.I[6].m, report.zeros_before, report.zeros_after
    (0.0, 0, 18)
    >>> q = np.linspace(-1.0, 1.0, 6)
    >>> bool(np.allclose(kt.crba(arm, q), kt.crba(simple, q), rtol=1e-12))
    True
    """
    if form not in FORMS:
        raise unknown_name("form", form, FORMS, "simplify_inertias")
    canonical = [(None, None), *(model.joints[i].canonical() for i in model.outward())]
    # To the axes in which the joint of each body is canonical: its regroupable parts are single moments there.
    turn = [Transform.identity(), *(Transform(R, Vector3.zero()) for R, _ in canonical[1:])]
    own = [turn[i] @ I for i, I in enumerate(model.I)]
    regroupable = [(), *(joint.regroupable for _, joint in canonical[1:])]
    zeros_before = sum(_zeros(I, form) for I in own[1:])
    regrouped, changed = {}, set()
    for i in model.inward():
        p = model.parent[i]
        delta = _regroupable_part(own[i], regroupable[i], form)
        parts = {name: x for name, x in zip(MOMENTS, _moments(delta), strict=True) if x != 0.0}
        if not parts:
            continue
        rest = _without(own[i], parts, form)
        if p:
            arriving = turn[p] @ model.X_T[i].inverse_apply(turn[i].inverse_apply(delta))
            taking = snapped_inertia(own[p] + arriving)
            filled = _observable_zeros(own[p], regroupable[p]) - _observable_zeros(taking, regroupable[p])
            if filled >= _zeros(rest, form) - _zeros(own[i], form):
                continue
            own[p] = taking
            changed.add(p)
        own[i] = rest
        changed.add(i)
        regrouped[model.joint_name(i)] = parts
    if not regrouped:
        return model, Simplification(model, model, {}, zeros_before, zeros_before)
    message = f"inertias of {len(regrouped)} bodies are simplified: they move the same, and are not those of the bodies"
    made = Model(**{
        **model._arguments(),
        "I": tuple(turn[i].inverse_apply(own[i]) if i in changed else I for i, I in enumerate(model.I)),
        "report": model.report.with_entry("info", "simplify_inertias", message),
        "accept_impossible_inertia": True,
    })  # fmt: skip
    return made, Simplification(model, made, regrouped, zeros_before, sum(_zeros(I, form) for I in own[1:]))


def _moments(I: Inertia) -> tuple:
    return (I.m, *I.h, *I.second_moments)


def _inertia(m: float, x: float, y: float, z: float, *P: float) -> Inertia:
    return Inertia.from_moments(m, Vector3(x, y, z), Symmetric3(*P))


def _zeros(I: Inertia, form: str) -> int:
    """The number of zeros among the ten parameters."""
    return sum(x == 0.0 for x in (_moments(I) if form == "moments" else (I.m, *I.h, *I.I)))


def _observable_zeros(I: Inertia, regroupable: tuple[str, ...]) -> int:
    """Number of zeros among the moments that are not regroupable: the others need not stay here."""
    return sum(x == 0.0 for name, x in zip(MOMENTS, _moments(I), strict=True) if name not in regroupable)


def _regroupable_part(I: Inertia, regroupable: tuple[str, ...], form: str) -> Inertia:
    """The regroupable part without which the body has the most zeros."""
    values = {name: x for name, x in zip(MOMENTS, _moments(I), strict=True) if name in regroupable}
    axes = [axis for axis in "xyz" if f"P.{axis}{axis}" in regroupable]
    if form == "inertia" and len(axes) == 1:
        # The moment of inertia across this axis z is P_zz + P_yy: it vanishes with a P_zz of -P_yy.
        values[f"P.{axes[0] * 2}"] = {"x": I.I.yy, "y": I.I.zz, "z": I.I.xx}[axes[0]]
    return _inertia(*(values.get(name, 0.0) for name in MOMENTS))


def _without(I: Inertia, parts: Mapping[str, float], form: str) -> Inertia:
    """The inertia less these moments, with exact zeros where nothing is left."""
    left = _inertia(*(x - parts.get(name, 0.0) for name, x in zip(MOMENTS, _moments(I), strict=True)))
    if form == "moments":
        return left
    scale = max(map(abs, I.I))
    return Inertia(left.m, left.h, Symmetric3(*(snapped(x, scale) for x in left.I)))


@checked(model=a_model)
def base_parameter_count(model: Model) -> int:
    """Number of combinations of inertial parameters on which joint forces of a floating mechanism depend.

    Parameters
    ----------
    model : Model

    Returns
    -------
    int
        The sum over all bodies of 10 less the number of moments without effect on their joint: 7 for a body on a
        revolute joint, 4 on a prismatic, 9 on a spherical and 10 on a free one. A mechanism on a fixed base has fewer,
        because its first joints do not move in all directions: then this is an upper bound.

    Notes
    -----
    *Source* Featherstone (2008), section 9.7: the base inertia parameters.

    *Identities* The rank of the inverse dynamics as a linear function of ten parameters for each body, if the root
    floats.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.joints import Free, Prismatic, Revolute
    >>> b = kt.ModelBuilder()
    >>> b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    >>> b.add_body("upper", "base", Revolute((0, 1, 0)), mass=1.0, inertia=(1, 1, 1))
    >>> b.add_body("lower", "upper", Prismatic((1, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    >>> kt.surgery.base_parameter_count(b.build())
    21
    """
    return sum(10 - len(model.joints[i].canonical()[1].regroupable) for i in model.outward())


@checked(model=a_model, floating=a_truth_value)
def augmented_bodies(model: Model, *, floating: bool | None = None) -> tuple[Inertia, ...]:
    """Each body with particles at its joints that represent the distal masses.

    Parameters
    ----------
    model : Model
        Its joints keep a point of the body on a point of the parent: revolute, spherical, fixed ones and the like.
    floating : bool, optional
        True: a particle at every joint, so that each augmented body has the mass of the whole system; the joint of the
        root body to the world does not count. False: at the joints of the bodies that it carries only, as on a fixed
        base. By default whether one body with six freedoms carries all others.

    Returns
    -------
    tuple of Inertia
        One for each body, about its origin in its own axes; the first, of the world, is zero.

    Raises
    ------
    ModelError
        If a joint moves the point that it connects, or a floating mechanism has several roots.

    Notes
    -----
    *Source* Featherstone (2008), section 9.7; Wittenburg (1977).

    *Identities* Fixed: the diagonal entry of M for a joint j of one freedom, if all joints beyond it turn so as to keep
    their bodies from rotating, is ``s . I s`` with the augmented body about the joint. Floating: a body that turns with
    w while all others do not and the total momentum is zero has the energy ``w . K w / 2``, K the augmented body's
    inertia about its own center of mass; its mass is the total mass.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> upper, lower = kt.surgery.augmented_bodies(arm)[1:]
    >>> upper.m == arm.total_mass, lower.m == arm.I[2].m
    (True, True)
    """
    roots = model.children(0)
    if floating is None:
        floating = len(roots) == 1 and model.joints[roots[0]].nv == 6
    if floating and len(roots) != 1:
        fault = f"augmented_bodies: model {model.name!r} has {len(roots)} bodies on its world"
        raise ModelError(f"{fault}, so it does not float as one; give floating=False", roots=roots)
    first = roots[0] if floating else None
    rng = np.random.default_rng(0)  # a joint that moves its point does so at random positions
    beyond = [0.0] * model.nb
    for i in model.inward():
        beyond[i] += model.I[i].m
        beyond[model.parent[i]] += beyond[i]
    augmented = [Inertia.zero(), *model.I[1:]]
    for i in model.inward():
        if i == first:
            continue
        p = model.parent[i]
        if p or floating:
            _check_point(model, i, rng)
        if p:
            augmented[p] = augmented[p] + _particle(beyond[i], model.X_T[i].r)
        if floating:
            augmented[i] = augmented[i] + _particle(beyond[0] - beyond[i], Vector3.zero())
    return tuple(augmented)


def _particle(m: float, r: Vector3) -> Inertia:
    return Inertia.from_com(m, r, Symmetric3.zero())


def _check_point(model: Model, i: int, rng: np.random.Generator) -> None:
    joint = model.joints[i]
    q = joint.random(rng)
    points = [*joint.transform(q).r, *(x for S in joint.motion_subspace(q) for x in S.linear)]
    if max(map(abs, points)) > 1e-12:
        name = model.joint_name(i)
        fault = f"augmented_bodies: joint {name!r} ({joint!r}) moves the point at which it connects its bodies"
        raise ModelError(f"{fault}, so a particle there belongs to neither", joint=name)
