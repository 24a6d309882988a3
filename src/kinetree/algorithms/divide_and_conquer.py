r"""Forward dynamics by divide and conquer: assembly of pairs of subassemblies, level by level, and disassembly.

Book (section 7.5)    here
``Phi^A``             ``L L^T`` of an outer handle; ``J`` is the inertia of an inner one (`subassemblies.py`)
``b^A``               ``b``, ``eta``
assembly tree         `assembly_tree`

Four sweeps over the assembly tree, each as long as it is deep: velocities relative to the inner handle, inward; true
velocities, outward; the equations of the subassemblies, inward; accelerations and forces at their handles, outward.
The members of a level do not depend on one another.
"""

from __future__ import annotations

import functools

from kinetree.algorithms.assembly_tree import assembly_tree
from kinetree.algorithms.kinematics import link_transform
from kinetree.algorithms.levels import each
from kinetree.algorithms.matrices import apply, identity, minus, plus, product, transposed
from kinetree.algorithms.spec import algorithm
from kinetree.algorithms.subassemblies import branches, junction, link, link_accelerations, pair


@algorithm(inputs="q v tau", optional="f_ext", outputs="a", raises="SingularityError", geared=False)
def divide_and_conquer(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the tree by divide and conquer, in O(log n) sequential steps.

    .. math:: a = M(q)^{-1} \bigl(\tau - c(q, v) + \sum_i J_i(q)^T f_i\bigr)

    Notes
    -----
    Source: Featherstone (2008), section 7.5. Differs: the inner handle of a subassembly is described by its inertia
    instead of the inverse, so that bodies need no inertia of their own, joints need no implicit form, branches add and
    the armature can be included; trees are cut into paths, see `assembly_tree`.
    Within `interpreted` the members of a level are computed together, as arrays.
    Cost: O(n) operations, several times those of `aba`, on paths of length O(log n). For machines that work on one
    state with many processors; on one, `aba` is faster. Joints are eliminated with the inertia of their own subassembly
    alone, not yet with all that it supports; where that is much more, digits are lost. Median / worst error against
    extended precision: 7e-16 / 2e-14 for a 7-joint arm with gripper, 3e-14 / 5e-13 for a humanoid with 33 freedoms
    (`aba`: 2e-16 / 8e-16 and 1e-16 / 6e-16), 8e-15 / 1e-14 for a chain of 100 (as `aba`).
    Identity: ``divide_and_conquer(q, v, tau) = aba(q, v, tau)``.

    See Also
    --------
    aba, assembly_tree

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v, tau = kt.models.chain_gu(7), *np.ones((3, 7))
    >>> bool(np.allclose(kt.dynamics.divide_and_conquer(model, q, v, tau), kt.aba(model, q, v, tau)))
    True
    """
    tree, joints = assembly_tree(model), [None] + [_Joint(model, i, q, v) for i in model.outward()]
    V, Z = _velocities(model, tree, joints, f_ext is not None)
    a_0 = list(model.algebra.Motion(model.algebra.no_rotation, -model.gravity))

    # Assembly: the equations of every subassembly, and the data of its disassembly.
    parts, back = {}, {}

    def keep(numbers, made):
        parts.update(zip(numbers, (equations for equations, _ in made), strict=True))
        back.update(zip(numbers, (rest for _, rest in made), strict=True))

    for level in tree.levels():
        links, pairs, sums = _by_kind(tree, level)
        for closed in (True, False):
            chosen = [k for k in links if tree.nodes[k].closed == closed]
            given = [_link(model, tree.nodes[k], joints, V, Z, parts, tau, f_ext) for k in chosen]
            keep(chosen, each(functools.partial(link, closed=closed), given))
        keep(pairs, each(pair, [tuple(parts[n] for n in tree.nodes[k].parts) for k in pairs]))
        made = each(branches, [tuple(parts[n] for n in tree.nodes[k].parts) for k in sums])
        parts.update(zip(sums, made, strict=True))

    # Disassembly: known at a subassembly are the acceleration of its inner handle and the force, if any, through
    # the outer one.
    a = [0.0] * model.nv

    def at_pairs(pairs, known):
        found = each(junction, [(back[k], *known[k]) for k in pairs])
        return [((known[k][0], f_1), (a_1, *known[k][1:])) for k, (a_1, f_1) in zip(pairs, found, strict=True)]

    def at_links(links, known):
        found = each(link_accelerations, [(back[k], *known[k]) for k in links])
        both = zip(links, found, strict=True)
        return [_spread(model, tree.nodes[k], joints, V, known[k][0], a_k, a) for k, a_k in both]

    _outward(tree, (a_0,), at_pairs, at_links)
    return a


class _Joint:
    """The matrices of a joint: X of its body and the inverse Z, the columns of S, V_J and c_J."""

    __slots__ = ("S", "V_J", "X", "Z", "c_J")

    def __init__(self, model, i, q, v):
        q_i, v_i, joint = model.q_of(i, q), model.v_of(i, v), model.joints[i]
        X = link_transform(model, i, q).collapse()
        units = _units(model.algebra)
        self.X = transposed([list(X @ e) for e in units])
        self.Z = transposed([list(X.inverse_apply(e)) for e in units])
        self.S = [list(S_k) for S_k in joint.motion_subspace(q_i)]
        self.V_J, self.c_J = list(joint.velocity(q_i, v_i)), list(joint.bias(q_i, v_i))


def _units(algebra):
    return [algebra.Motion.of(unit) for unit in identity(algebra.dimension)]


def _by_kind(tree, level):
    return [[k for k in level if tree.nodes[k].kind == kind] for kind in ("link", "pair", "sum")]


def _outward(tree, start, at_pairs, at_links):
    """From the world outward: the known quantities at the inner handles of all subassemblies.

    ``at_pairs`` gives those of both parts, ``at_links`` those of the branches on each body.
    """
    known = dict.fromkeys(tree.roots, start)
    for level in reversed(tree.levels()):
        links, pairs, sums = _by_kind(tree, level)
        for k in sorted(sums, reverse=True):
            known.update(dict.fromkeys(tree.nodes[k].parts, known[k]))
        for k, found in zip(pairs, at_pairs(pairs, known), strict=True):
            known.update(zip(tree.nodes[k].parts, found, strict=True))
        for k, found in zip(links, at_links(links, known), strict=True):
            known.update((n, each_) for n, each_ in zip(tree.nodes[k].parts, found, strict=True) if n >= 0)


def _velocities(model, tree, joints, with_poses):
    """The velocity of every body and, on request, the transform of motions from it to the world: prefix sums."""
    moves = [None] + [(j.X, j.V_J, j.Z) if with_poses else (j.X, j.V_J) for j in joints[1:]]
    outer = {}  # of links and pairs: the outer body as seen from the inner handle
    for k, node in enumerate(tree.nodes):
        if node.kind == "link":
            outer[k] = functools.reduce(_in_a_row, (moves[i] for i in node.bodies))
    for level in tree.levels():
        _, pairs, _ = _by_kind(tree, level)
        found = each(_in_a_row, [tuple(outer[n] for n in tree.nodes[k].parts) for k in pairs])
        outer.update(zip(pairs, found, strict=True))

    V, Z = [None] * model.nb, [None] * model.nb

    def at_pairs(pairs, known):
        found = each(_seen, [(known[k], outer[tree.nodes[k].parts[0]]) for k in pairs])
        return [(known[k], distal) for k, distal in zip(pairs, found, strict=True)]

    def at_links(links, known):
        return [at_bodies(tree.nodes[k].bodies, known[k]) for k in links]

    def at_bodies(bodies, known):
        found = []
        for i in bodies:
            known = _seen(known, moves[i])
            V[i], Z[i] = known[0], known[-1]
            found.append(known)
        return found

    d = model.algebra.dimension
    _outward(tree, ([0.0] * d, identity(d)) if with_poses else ([0.0] * d,), at_pairs, at_links)
    return V, Z


def _in_a_row(first, second):
    """Two moves, each X, V and perhaps Z: the outer end of the second one as seen from the inner end of the first."""
    (X_1, V_1, *Z_1), (X_2, V_2, *Z_2) = first, second
    return (product(X_2, X_1), plus(apply(X_2, V_1), V_2), *map(product, Z_1, Z_2))


def _seen(known, move):
    """Velocity (and Z) at the outer end of a move, from those at its inner end."""
    (V_0, *Z_0), (X, V, *Z) = known, move
    return (plus(apply(X, V_0), V), *map(product, Z_0, Z))


def _link(model, node, joints, V, Z, parts, tau, f_ext):
    """The arguments of `link`."""
    Motion = model.algebra.Motion
    steps, armature, forces = [], [], []
    for i, beside in zip(node.bodies, node.parts, strict=True):
        V_i = Motion.of(V[i])
        # p = v x* I v - X_0^* f_ext
        p = list(V_i.cross(model.I[i] @ V_i))
        if f_ext is not None:
            p = minus(p, apply(transposed(Z[i]), list(model.algebra.external(f_ext[i]))))
        I = transposed([list(model.I[i] @ e) for e in _units(model.algebra)])
        if beside >= 0:
            I, p = (plus(x, y) for x, y in zip((I, p), parts[beside], strict=True))
        steps.append((joints[i].X, joints[i].S, _drift(model, joints[i], V[i]), I, p))
        armature.extend(model.armature[model.v_slice[i]])
        forces.extend(model.v_of(i, tau))
    return steps, armature, forces


def _drift(model, joint, V):
    """``c = c_J + v x v_J``."""
    Motion = model.algebra.Motion
    return plus(joint.c_J, list(Motion.of(V).cross(Motion.of(joint.V_J))))


def _spread(model, node, joints, V, a_0, a_link, a):
    """Write a link's joint accelerations; the accelerations of its bodies, for their branches."""
    found, taken = [], 0
    for i in node.bodies:
        joint, n = joints[i], len(joints[i].S)
        a_i, taken = a_link[taken : taken + n], taken + n
        a[model.v_slice[i]] = a_i
        a_0 = plus(apply(joint.X, a_0), _drift(model, joint, V[i]))
        for S_k, a_k in zip(joint.S, a_i, strict=True):
            a_0 = [x + s * a_k for x, s in zip(a_0, S_k, strict=True)]
        found.append((a_0,))
    return found
