"""The response of a mechanism to forces: articulated bodies in the coordinates of the root, and results from them.

In these coordinates articulated inertias and forces need no transformation to the parent. The response of a joint to
the acceleration A of a body that supports it is ``qdd = R A``, one row R for each velocity; to a pattern of forces on
all bodies of a subtree, for example ``2 B e`` on each of them, a number. Both kinds of rows are extended from the
parent to its ancestors through the compliance of the joints in between. Both apply to every column of a derivative.
"""

from __future__ import annotations

from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.matrices import chained, identity
from kinetree.algorithms.regularity import inertia_scales
from kinetree.spatial import Columns


class Articulated:
    """The articulated bodies of a tree, all in the coordinates of its root body.

    Parameters
    ----------
    model : Model
    S : list of Columns
        Motion subspaces, in the coordinates of the root.
    I : list of Inertia
        Of the bodies, in the same coordinates.
    diagonal : sequence, optional
        Added to the diagonal of M; default the armature.
    loads : sequence of (list of Force, sequence or None), optional
        Forces on the bodies, and joint forces if there are any, whose effect is found in the same pass, body by
        body.

    Attributes
    ----------
    IA : list of ArticulatedInertia
    joint : list of Eliminated
    R : list of Columns
        Response of the joint to the acceleration A of its parent, all forces absent: ``qdd_n = R[i][n] . A``.
    bias : list of list of Force
        ``bias[i][b]``: articulated bias force of body i under load b,
    x : list of list of list
        ``x[i][b]``: and the response of its joint to that load while its parent is at rest.
    free : list of bool
        Whether the body floats: on a joint from the world that resists no motion, whose columns are the unit motions.
    """

    def __init__(self, model, S, I, diagonal=None, loads=()):
        self.model, self.S = model, S
        diagonal = model.armature if diagonal is None else diagonal
        self.IA = [None] + [model.algebra.ArticulatedInertia.of(I[i]) for i in model.outward()]
        self.joint, self.R, self.x = ([None] * model.nb for _ in range(3))
        self.bias = [[f[i] for f, _ in loads] for i in range(model.nb)]
        self.free = [False] + [_floats(model, i, S[i], diagonal) for i in model.outward()]
        scales = inertia_scales(model)
        for i in model.inward():
            p, slot = model.parent[i], model.v_slice[i]
            joint = self.joint[i] = Eliminated(self.IA[i], S[i], diagonal[slot], scales[slot])
            self.R[i] = Columns([-(joint.U @ joint.D.solve(unit)) for unit in identity(len(S[i]))], joint.U.kind)
            if p:
                # I^a = I^A - U (U D^-1)^T
                self.IA[p] = self.IA[p] + (joint.IA.minus_product(joint.U, -self.R[i]) if len(S[i]) else joint.IA)
            self.x[i] = [self._respond(i, b, tau) for b, (_, tau) in enumerate(loads)]

    def _respond(self, i, b, tau):
        """The response of joint i to load b while its parent is at rest; the rest of the force is propagated."""
        force, p = self.bias[i][b], self.model.parent[i]
        u = -(self.S[i].T @ force)
        if tau is not None:
            u = self.model.v_of(i, tau) + u
        x = self.joint[i].D.solve(u)
        if p:
            self.bias[p][b] = self.joint[i].U.onto(self.bias[p][b] + force, x)
        return x

    def outward(self, b=0):
        """Joint accelerations under load b."""
        model = self.model
        a, A = [0.0] * model.nv, [None] * model.nb
        for i in model.outward():
            p, x = model.parent[i], self.x[i][b]
            a[model.v_slice[i]] = a_i = x + self.R[i].T @ A[p] if p else x
            A[i] = A[p] + self.S[i] @ a_i if p else self.S[i] @ a_i
        return a


def _floats(model, i, S, diagonal):
    units = all(isinstance(x, float) for S_k in S for x in S_k) and [list(S_k) for S_k in S] == identity(6)
    return units and not model.parent[i] and all(isinstance(x, float) and x == 0.0 for x in diagonal[model.v_slice[i]])


class Responses:
    """The responses of the joints of a mechanism to unit forces at the joints and to patterns of forces on subtrees.

    Parameters
    ----------
    mechanism : Articulated
        Its loads from the second on are *patterns*: forces on the bodies, of which every column takes a combination on
        its own subtree.

    Attributes
    ----------
    R : list of dict
        ``R[i][c][n]``: response of velocity n of joint i to the acceleration of body c, a support of it.
    Q : list of dict
        ``Q[i][c][n]``: its responses to the patterns, one number each, while c is at rest.
    inverse : list of list
        M^-1, without M. This and the following grow by `invert`, body after body, so that a body's part can be used at
        once: for a humanoid a third fewer values are alive at a time, and a batch is 5 % faster.
    proximal : list of dict
        ``proximal[k][c]``: acceleration of body c under a unit force at velocity k of a joint that c supports.
    distal : list of dict
        ``distal[c][k]``: the same for the velocities k of the joint of c and of those that support c.
    """

    def __init__(self, mechanism: Articulated):
        self.mechanism, self.model, self.S = mechanism, mechanism.model, mechanism.S
        model = self.model
        self.bias = [Columns(loads[1:], model.algebra.Force) for loads in mechanism.bias]
        self.slots = [range(slot.start, slot.stop) for slot in model.v_slice]
        # Bodies on other branches, with the outermost body that supports both; without one there is no response.
        self.others = [
            [(l, c) for l in model.outward() if (c := model.common_ancestor(i, l)) not in (0, i, l)]
            for i in range(model.nb)
        ]
        self._extend()
        self.inverse, self.proximal, self.distal = identity(model.nv), [None] * model.nv, [None] * model.nb

    def _extend(self):
        model = self.model
        self.R, self.Q = [None] * model.nb, [None] * model.nb
        for i in model.outward():
            c, R = model.parent[i], self.mechanism.R[i]
            Q = [[x_b[n] for x_b in self.mechanism.x[i][1:]] for n in range(len(R))]
            self.R[i], self.Q[i] = {c: R}, {c: Q}
            while c and model.parent[c]:
                p = model.parent[c]
                # A_c = A_p + S qdd_c, and qdd_c is the response of joint c
                projected = R.T @ self.S[c]
                R = R + [self.R[c][p] @ row for row in projected]
                Q = [_added(Q_n, self.Q[c][p], row) for Q_n, row in zip(Q, projected, strict=True)]
                self.R[i][p], self.Q[i][p], c = R, Q, p

    def invert(self, i):
        """Add joint i to M^-1, after its supports, whose rows follow by reciprocity from the joint's columns."""
        model, S, M = self.model, self.S, self.inverse
        p, slot, supports = model.parent[i], self.slots[i], model.support(i)[:-1]
        for n, k in enumerate(slot):
            for c in supports:
                for j in self.slots[c]:
                    M[j][k] = M[k][j] = chained(self.R[i][c][n], self.distal[c][j])
            self.proximal[k] = self._accelerations(supports, M, k)
        for n, k in enumerate(slot):
            compliance = self.mechanism.joint[i].D.solve(identity(len(slot))[n])
            for m, j in enumerate(slot[: n + 1]):
                entry = chained(self.R[i][p][m], self.proximal[k][p], compliance[m]) if p else compliance[m]
                M[j][k] = M[k][j] = entry
        self.distal[i] = {k: S[i] @ [M[n][k] for n in slot] for k in slot}
        if p:
            for k in slot:
                self.distal[i][k] = self.proximal[k][p] + self.distal[i][k]
            for j, A in self.distal[p].items():
                self.distal[i][j] = A + S[i] @ [M[n][j] for n in slot]
        for l, c in self.others[i]:
            if l > i:
                for k in slot:
                    for n, j in enumerate(self.slots[l]):
                        M[j][k] = M[k][j] = chained(self.R[l][c][n], self.proximal[k][c])

    def _accelerations(self, bodies, rows, k):
        """Accelerations of bodies, each the parent of the next, from column k of the joint accelerations."""
        found, A = {}, None
        for c in bodies:
            step = self.S[c] @ [rows[n][k] for n in self.slots[c]]
            A = found[c] = step if A is None else A + step
        return found

    def columns(self, i, k, changes):
        """Write column k of some derivatives, k a velocity of joint i.

        Rows are taken one after the other for all derivatives, so that they share results.
        """
        p, u, onward = self.model.parent[i], [], []
        free = self.mechanism.free[i]
        for change in changes:
            force = self.bias[i] @ change.weights
            if not free:
                force = self.mechanism.IA[i] @ change.alpha + force
            u.append(-(self.S[i].T @ force) - change.dS_F)
            onward.append(-(force + change.turned))
        # Joint i and its supports, by reciprocity.
        for j in (*(self.distal[p] if p else ()), *self.slots[i]):
            for change, force, u_i in zip(changes, onward, u, strict=True):
                da = chained((self.inverse[n][j] for n in self.slots[i]), u_i)
                if p:
                    A_p = self.distal[p][j] if j in self.distal[p] else self.proximal[j][p]
                    da = chained(force, A_p, da)
                change.da[j][k] = da
        # The subtree of i: its base accelerates by A, and alpha acts like an acceleration of the base, too.
        A = [self._accelerations(self.model.support(i), change.da, k) for change in changes]
        if free:
            # Without resistance the base complies with alpha as a whole, and distal joints do not respond.
            base = [A_c[i] for A_c in A]
            for change in changes:
                for j, alpha_j in zip(self.slots[i], change.alpha, strict=True):
                    change.da[j][k] = change.da[j][k] - alpha_j
        else:
            base = [A_c[i] + change.alpha for A_c, change in zip(A, changes, strict=True)]
        for l in self.model.subtree(i)[1:]:
            for R, Q, j in zip(self.R[l][i], self.Q[l][i], self.slots[l], strict=True):
                for change, A_i in zip(changes, base, strict=True):
                    change.da[j][k] = chained(R, A_i, chained(Q, change.weights))
        for l, c in self.others[i]:
            for R, j in zip(self.R[l][c], self.slots[l], strict=True):
                for change, A_c in zip(changes, A, strict=True):
                    change.da[j][k] = chained(R, A_c[c])


class Change:
    """The changes along one column of a derivative.

    Parameters
    ----------
    da : list of list
        Receives the column.
    alpha : Motion
        Every body of the joint's subtree needs the force ``I alpha`` more,
    weights : list
        and these multiples of the patterns;
    turned : Force
        the parent of the joint needs this force more,
    dS_F : list
        the joint's own velocities these joint forces.
    """

    __slots__ = ("alpha", "da", "dS_F", "turned", "weights")

    def __init__(self, da, alpha, weights, turned, dS_F):
        self.da, self.alpha, self.weights, self.turned, self.dS_F = da, alpha, weights, turned, dS_F


def _added(Q_n, Q_c, row):
    """``Q_n + row Q_c``, pattern by pattern."""
    return [chained(row, (Q_m[b] for Q_m in Q_c), q) for b, q in enumerate(Q_n)]
