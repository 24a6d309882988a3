"""How a mechanism answers to forces: articulated bodies in the coordinates of the root, and what follows from them.

In these coordinates articulated inertias and forces are handed to the parent as they are. A joint answers to the
acceleration A of a body that carries it with ``qdd = R A``, one row R for each velocity; to a pattern of forces on all
bodies of a subtree, for example ``2 B e`` on each of them, with a number. Both kinds of rows are extended from the
parent to ancestors further in by letting the joints in between give way. They serve every column of a derivative.
"""

from __future__ import annotations

from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.matrices import identity
from kinetree.algorithms.products import chained
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
        What is added to the diagonal of M; default the armature.
    loads : sequence of (list of Force, sequence or None), optional
        Forces on the bodies, and joint forces if there are any, whose effect is found in the same pass, while the parts
        of a body are at hand.

    Attributes
    ----------
    IA : list of ArticulatedInertia
    joint : list of Eliminated
    R : list of Columns
        Answer of the joint to the acceleration A of its parent, all forces absent: ``qdd_n = R[i][n] . A``.
    bias : list of list of Force
        ``bias[i][b]``: articulated bias force of body i under load b,
    x : list of list of list
        ``x[i][b]``: and the answer of its joint to that load while its parent stands still.
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
            self.x[i] = [self._give_way(i, b, tau) for b, (_, tau) in enumerate(loads)]

    def _give_way(self, i, b, tau):
        """What joint i answers to load b while its parent stands still; its parent gets the rest of the force."""
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


class Answers:
    """The answers of the joints of a mechanism to unit forces at the joints and to patterns of forces on subtrees.

    Parameters
    ----------
    mechanism : Articulated
        Its loads from the second on are *patterns*: forces on the bodies, of which every column takes a combination on
        its own subtree.

    Attributes
    ----------
    R : list of dict
        ``R[i][c][n]``: answer of velocity n of joint i to the acceleration of body c, one of those that carry it.
    Q : list of dict
        ``Q[i][c][n]``: its answers to the patterns, one number each, while c stands still.
    inverse : list of list
        M^-1, without M. It and what follows grow by `invert`, body after body, so that a body's part can be used while
        it is at hand: for a humanoid a third fewer values are alive at a time, and a batch is 5 % faster.
    above : list of dict
        ``above[k][c]``: acceleration of body c under a unit force at velocity k of a joint that c carries.
    beyond : list of dict
        ``beyond[c][k]``: the same for the velocities k of the joint of c and of those that carry c.
    """

    def __init__(self, mechanism: Articulated):
        self.mechanism, self.model, self.S = mechanism, mechanism.model, mechanism.S
        model = self.model
        self.bias = [Columns(loads[1:], model.algebra.Force) for loads in mechanism.bias]
        self.own = [range(slot.start, slot.stop) for slot in model.v_slice]
        # Bodies on other branches, with the outermost body that carries both; without one there is no answer.
        self.others = [
            [(l, c) for l in model.outward() if (c := model.common_ancestor(i, l)) not in (0, i, l)]
            for i in range(model.nb)
        ]
        self._extend()
        self.inverse, self.above, self.beyond = identity(model.nv), [None] * model.nv, [None] * model.nb

    def _extend(self):
        model = self.model
        self.R, self.Q = [None] * model.nb, [None] * model.nb
        for i in model.outward():
            c, R = model.parent[i], self.mechanism.R[i]
            Q = [[x_b[n] for x_b in self.mechanism.x[i][1:]] for n in range(len(R))]
            self.R[i], self.Q[i] = {c: R}, {c: Q}
            while c and model.parent[c]:
                p = model.parent[c]
                # A_c = A_p + S qdd_c, and qdd_c is the answer of joint c
                moved = R.T @ self.S[c]
                R = R + [self.R[c][p] @ row for row in moved]
                Q = [_added(Q_n, self.Q[c][p], row) for Q_n, row in zip(Q, moved, strict=True)]
                self.R[i][p], self.Q[i][p], c = R, Q, p

    def invert(self, i):
        """Add joint i to M^-1, after those that carry it: these answer by reciprocity, so own columns are enough."""
        model, S, M = self.model, self.S, self.inverse
        p, own, carriers = model.parent[i], self.own[i], model.support(i)[:-1]
        for n, k in enumerate(own):
            for c in carriers:
                for j in self.own[c]:
                    M[j][k] = M[k][j] = chained(self.R[i][c][n], self.beyond[c][j])
            self.above[k] = self._accelerations(carriers, M, k)
        for n, k in enumerate(own):
            compliance = self.mechanism.joint[i].D.solve(identity(len(own))[n])
            for m, j in enumerate(own[: n + 1]):
                carried = chained(self.R[i][p][m], self.above[k][p], compliance[m]) if p else compliance[m]
                M[j][k] = M[k][j] = carried
        self.beyond[i] = {k: S[i] @ [M[n][k] for n in own] for k in own}
        if p:
            for k in own:
                self.beyond[i][k] = self.above[k][p] + self.beyond[i][k]
            for j, A in self.beyond[p].items():
                self.beyond[i][j] = A + S[i] @ [M[n][j] for n in own]
        for l, c in self.others[i]:
            if l > i:
                for k in own:
                    for n, j in enumerate(self.own[l]):
                        M[j][k] = M[k][j] = chained(self.R[l][c][n], self.above[k][c])

    def _accelerations(self, bodies, rows, k):
        """Accelerations of bodies, each the parent of the next, from column k of the joint accelerations."""
        found, A = {}, None
        for c in bodies:
            step = self.S[c] @ [rows[n][k] for n in self.own[c]]
            A = found[c] = step if A is None else A + step
        return found

    def columns(self, i, k, changes):
        """Write column k of some derivatives, k a velocity of joint i.

        Rows are taken one after the other for all derivatives, so that what they share is at hand.
        """
        p, u, onward = self.model.parent[i], [], []
        free = self.mechanism.free[i]
        for change in changes:
            force = self.bias[i] @ change.weights
            if not free:
                force = self.mechanism.IA[i] @ change.alpha + force
            u.append(-(self.S[i].T @ force) - change.ring)
            onward.append(-(force + change.turned))
        # Joint i and those that carry it, by reciprocity.
        for j in (*(self.beyond[p] if p else ()), *self.own[i]):
            for change, force, u_i in zip(changes, onward, u, strict=True):
                answer = chained((self.inverse[n][j] for n in self.own[i]), u_i)
                if p:
                    A_p = self.beyond[p][j] if j in self.beyond[p] else self.above[j][p]
                    answer = chained(force, A_p, answer)
                change.da[j][k] = answer
        # The subtree of i: its base accelerates by A, and alpha acts like an acceleration of the base, too.
        A = [self._accelerations(self.model.support(i), change.da, k) for change in changes]
        if free:
            # Where nothing resists, the base gives way to alpha as a whole, and nothing beyond it notices.
            base = [A_c[i] for A_c in A]
            for change in changes:
                for j, alpha_j in zip(self.own[i], change.alpha, strict=True):
                    change.da[j][k] = change.da[j][k] - alpha_j
        else:
            base = [A_c[i] + change.alpha for A_c, change in zip(A, changes, strict=True)]
        for l in self.model.subtree(i)[1:]:
            for R, Q, j in zip(self.R[l][i], self.Q[l][i], self.own[l], strict=True):
                for change, moved in zip(changes, base, strict=True):
                    change.da[j][k] = chained(R, moved, chained(Q, change.weights))
        for l, c in self.others[i]:
            for R, j in zip(self.R[l][c], self.own[l], strict=True):
                for change, A_c in zip(changes, A, strict=True):
                    change.da[j][k] = chained(R, A_c[c])


class Change:
    """What changes along one column of a derivative.

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
    ring : list
        the joint's own velocities these joint forces.
    """

    __slots__ = ("alpha", "da", "ring", "turned", "weights")

    def __init__(self, da, alpha, weights, turned, ring):
        self.da, self.alpha, self.weights, self.turned, self.ring = da, alpha, weights, turned, ring


def _added(Q_n, Q_c, row):
    """``Q_n + row Q_c``, pattern by pattern."""
    return [chained(row, (Q_m[b] for Q_m in Q_c), q) for b, q in enumerate(Q_n)]
