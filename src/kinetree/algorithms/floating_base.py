r"""Floating bases in their own form: the base's twist beside the joints, and no joint between base and world.

.. math:: \begin{bmatrix} I_0^c & F \\ F^T & H \end{bmatrix} \begin{bmatrix} a_0 \\ \ddot q \end{bmatrix}
   + \begin{bmatrix} p_0^c \\ C \end{bmatrix} = \begin{bmatrix} 0 \\ \tau \end{bmatrix}

The book's body 0 is body 1 of a model, whose joint to the world has six freedoms and the identity for its motion
subspace: its ``qdd`` is the spatial acceleration a_0 of the base in base coordinates (section 9.3). Where no base
floats (`Model.nv_base` is 0), body 0 is the world, which has no freedoms.

Book (tables 9.4-9.6)       here
``body 0``                  ``tree.base``: 1, or 0
``v_0; q, qd``              the first entries of ``v`` (the pose is in those of ``q``); the other entries
``qdd, tau, C, H``          of the joints alone: ``nv_joints`` entries
``I^A_i, p^A_i``            ``IA[i]``, ``f[i]``
``I^c_i, p^c_i``            ``Ic[i]``, ``f[i]``
``a^vp_i, a^r_i``           ``field[i]``, with the angular velocity
"""

from __future__ import annotations

from kinetree.algorithms.base_inertia import base_inertias, base_inertias_unless_deep
from kinetree.algorithms.crba import crba
from kinetree.algorithms.elimination import Eliminated
from kinetree.algorithms.factorize import LeafFirst
from kinetree.algorithms.jacobian import columns_to_rows, frame_columns, to_reference
from kinetree.algorithms.kinematics import link_transform, world_transforms
from kinetree.algorithms.matrices import dot, identity, minus
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import outward_pass
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero


class FloatingTree:
    """The bodies while the base does not accelerate: first pass of tables 9.4 to 9.6.

    Gravity accelerates all bodies alike, and so does the drift of a base with a steady twist: the point at its origin
    has the classical acceleration w x v. Neither has an influence on the joints. So they may be left out until the
    base's acceleration is known; then the results of the joints do not depend on gravity to the last bit.

    Parameters
    ----------
    model : Model
    q, v : sequence of scalars
        Of the whole model, the base's first.
    a : sequence of scalars or None
        Accelerations of the joints.
    f_ext : sequence or None
    I : sequence of Inertia
    drifting : bool
        Whether gravity and drift are in the forces ``f``, or added by `base_acceleration`.

    Attributes
    ----------
    base : int
    X, S, f : list
        Link transforms and motion subspaces of the other bodies; forces that the bodies need.
    """

    def __init__(self, model, q, v, a, f_ext, I, drifting):
        algebra, field = model.algebra, None
        self.model, self.base, self.drifting = model, 1 if model.nv_base else 0, drifting
        if self.base:
            V, X = model.joints[1].velocity(model.q_of(1, q), model.v_of(1, v)), link_transform(model, 1, q)
            w_x_v = V.cross(algebra.Motion(algebra.no_rotation, V.linear)).linear
            self.drift = (X @ algebra.falling(model.gravity)).a + w_x_v
            a_0 = self.drift if drifting else algebra.Motion.zero().linear
            field = algebra.AccelerationField(V.angular, algebra.no_rotation, a_0)
        a = None if a is None else [0.0] * model.nv_base + list(a)
        self.X, self.S, self.f = outward_pass(model, q, v, a, f_ext, I, base=field)

    def outward(self):
        """The bodies but the base, every parent before its children."""
        return (i for i in self.model.outward() if i != self.base)

    def inward(self):
        """The bodies but the base, every child before its parent."""
        return (i for i in self.model.inward() if i != self.base)

    def slot(self, i):
        """The entries of joint i in arrays of the joints alone."""
        own, n = self.model.v_slice[i], self.model.nv_base
        return slice(own.start - n, own.stop - n)

    def base_acceleration(self, x):
        """``a_0`` from the solution x, to which gravity and drift are added if they were left out."""
        if self.drifting or not self.base:
            return list(x)
        Motion = self.model.algebra.Motion
        return list(Motion.of(x) - Motion(self.model.algebra.no_rotation, self.drift))


def base_inertia(model, inertia):
    """A rigid or articulated inertia of the whole tree, with the armature of the base's coordinates, factorized."""
    rows = [list(inertia @ model.algebra.Motion.of(unit)) for unit in identity(model.nv_base)]
    for k, row in enumerate(rows):
        row[k] = row[k] + model.armature[k]
    return LeafFirst(rows)


def drifting(model):
    """Whether gravity must be in the forces: an armature on the base's coordinates resists, but has no weight."""
    return not all(is_zero(x) for x in model.armature[: model.nv_base])


BASE = {
    "model": "; a free joint, the floating base, supports all other bodies.",
    "q": "; the pose of the base first.",
    "v": "; the twist of the base in its own coordinates first.",
}


@algorithm(
    inputs="q v tau_joints",
    optional="f_ext",
    outputs="a_base a_joints",
    symbols=BASE
    | {"tau_joints": "; no force acts on the base but the external wrench.", "a_joints": "; independent of gravity."},
    raises="SingularityError",
    geared=False,
)
def floating_base_forward_dynamics(model, q, v, tau_joints, f_ext=None):
    """Accelerations of a floating base and of its joints, by articulated bodies.

    Notes
    -----
    Source: Featherstone (2008), table 9.4. Differs: external wrenches and gravity are given in world coordinates; the
    velocity products enter as in `aba`. If no base floats, the fixed base has no freedoms and this is `aba`.
    Cost: O(nb). Identity: ``aba(q, v, [0; tau_joints]) = [a_base; a_joints]``.

    See Also
    --------
    aba, floating_base_inverse_dynamics, floating_base_coefficients

    Examples
    --------
    A robot in free fall: its joints accelerate independently of gravity.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("quadruped", floating_base=True)
    >>> a_base, a_joints = kt.floating_base.forward_dynamics(robot, robot.neutral(), np.zeros(18), np.zeros(12))
    >>> bool(np.allclose(a_base, [0, 0, 0, 0, 0, -9.81])), bool(np.all(a_joints == 0.0))
    (True, True)
    """
    tree = FloatingTree(model, q, v, None, f_ext, base_inertias_unless_deep(model), drifting(model))
    X, S, f = tree.X, tree.S, tree.f
    IA, scales = [model.algebra.ArticulatedInertia.of(I) for I in model.I], inertia_scales(model)
    joint, u = [None] * model.nb, [None] * model.nb
    for i in tree.inward():
        p, slot = model.parent[i], model.v_slice[i]
        joint[i] = Eliminated(IA[i], S[i], model.armature[slot], scales[slot])
        u[i] = tau_joints[tree.slot(i)] - S[i].T @ f[i]
        if p:
            # I^a = I^A - U D^-1 U^T,  p^a = p^A + U D^-1 u
            IA[p] = IA[p] + X[i].inverse_apply(joint[i].inertia())
            f[p] = f[p] + X[i].inverse_apply(joint[i].force(f[i], u[i]))

    # a_0 = -(I_0^A)^-1 p_0^A
    a_joints, A, x = [0.0] * model.nv_joints, [model.algebra.Motion.zero()] * model.nb, []
    if tree.base:
        x = base_inertia(model, IA[1]).solve([-f_k for f_k in f[1]])
        A[1] = model.algebra.Motion.of(x)
    for i in tree.outward():
        # a' = X a_lambda,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
        A[i] = X[i] @ A[model.parent[i]]
        a_joints[tree.slot(i)] = a_i = joint[i].acceleration(u[i], A[i])
        A[i] = A[i] + S[i] @ a_i
    return tree.base_acceleration(x), a_joints


@algorithm(inputs="q v a_joints", optional="f_ext", outputs="a_base tau_joints", symbols=BASE, geared=False)
def floating_base_inverse_dynamics(model, q, v, a_joints, f_ext=None):
    """Joint forces for given joint accelerations, and the acceleration that the floating base then has.

    Notes
    -----
    Source: Featherstone (2008), table 9.6, where ``v_J x v_J`` is a slip for ``v_i x v_J``. Differs: gravity is added
    to a_0 at the end. If no base floats, this is `rnea`. Cost: O(nb).
    Identities: ``rnea(q, v, [a_base; a_joints]) = [0; tau_joints]``; `hybrid_aba` with the base's joint alone in
    ``forward``.

    See Also
    --------
    rnea, hybrid_dynamics, floating_base_forward_dynamics

    Examples
    --------
    A cat in the air: swinging a limb turns the trunk.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("quadruped", floating_base=True)
    >>> swing = np.zeros(12)
    >>> swing[0] = 10.0
    >>> a_base, tau = kt.floating_base.inverse_dynamics(robot, robot.neutral(), np.zeros(18), swing)
    >>> bool(np.abs(a_base[:3]).max() > 0.1)
    True
    """
    tree = FloatingTree(model, q, v, a_joints, f_ext, base_inertias(model), drifting(model))
    X, S, f, Ic, Motion = tree.X, tree.S, tree.f, list(model.I), model.algebra.Motion
    for i in tree.inward():
        p = model.parent[i]
        if p:
            Ic[p] = Ic[p] + X[i].inverse_apply(Ic[i])
            f[p] = f[p] + X[i].inverse_apply(f[i])
    # a_0 = -(I_0^c)^-1 p_0^c
    A, x = [Motion.zero()] * model.nb, []
    if tree.base:
        x = base_inertia(model, Ic[1]).solve([-f_k for f_k in f[1]])
        A[1] = Motion.of(x)
    tau_joints = [0.0] * model.nv_joints
    for i in tree.outward():
        # tau = S^T (I^c a_0 + p^c)
        A[i] = X[i] @ A[model.parent[i]]
        needed = f[i] + Ic[i] @ A[i]
        for k, t in enumerate(S[i].T @ needed, tree.slot(i).start):
            tau_joints[k] = t + model.armature[model.nv_base + k] * a_joints[k]
    return tree.base_acceleration(x), tau_joints


@algorithm(
    inputs="q v",
    optional="f_ext",
    outputs={
        "I0c": ("nv_base", "nv_base"),
        "F": ("nv_base", "nv_joints"),
        "H": ("nv_joints", "nv_joints"),
        "p0c": "nv_base",
        "C": "nv_joints",
    },
    symbols=BASE
    | {
        "F": "Column k is the momentum that a unit velocity of joint k gives the tree while the base rests, "
        "base coordinates [kg m^2, kg m, kg].",
        "C": "Joint forces of the same [N m or N].",
    },
    geared=False,
)
def floating_base_coefficients(model, q, v, f_ext=None):
    r"""Coefficients of the equation of motion of a tree on a floating base.

    .. math:: \begin{bmatrix} I_0^c & F \\ F^T & H \end{bmatrix} \begin{bmatrix} a_0 \\ \ddot q \end{bmatrix}
       + \begin{bmatrix} p_0^c \\ C \end{bmatrix} = \begin{bmatrix} 0 \\ \tau \end{bmatrix}

    Notes
    -----
    Source: Featherstone (2008), eq. 9.13 and table 9.5, where ``v_J x v_J`` is a slip for ``v_i x v_J``; example 9.3.
    The matrix has the sparsity of the tree: factorized with the base's rows first, nothing is filled. If no base
    floats, H and C are those of `crba` and `bias_forces`. Cost: O(nd).
    Identities: the momentum in base coordinates is ``I0c v_0 + F qd``; the kinetic energy is half the quadratic form of
    the matrix in ``[v_0; qd]``.

    See Also
    --------
    crba, bias_forces, floating_base_reduced_coefficients, floating_base_jacobian

    Examples
    --------
    Joint velocities in the null space of F, all of them but six dimensions, do not disturb the base's motion:

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("quadruped", floating_base=True)
    >>> q, v = robot.random_state(np.random.default_rng(0))
    >>> eq = kt.floating_base.coefficients(robot, q, v)
    >>> reactionless = np.linalg.svd(eq.F)[2][6:]
    >>> reactionless.shape, bool(np.allclose(eq.F @ reactionless.T, 0.0))
    ((6, 12), True)
    """
    tree = FloatingTree(model, q, v, None, f_ext, base_inertias(model), True)
    p0c, C = _bias(model, tree)
    return *_blocks(model, crba(model, q)), p0c, C


@algorithm(inputs="q v", optional="f_ext", outputs="H_fl C_fl", symbols=BASE, geared=False)
def floating_base_reduced_coefficients(model, q, v, f_ext=None):
    r"""Coefficients of the joints' own equation of motion on a floating base, from which the base is eliminated.

    .. math:: H^{fl} \ddot q + C^{fl} = \tau, \qquad H^{fl} = H - F^T (I_0^c)^{-1} F, \qquad
       C^{fl} = C - F^T (I_0^c)^{-1} p_0^c

    Notes
    -----
    Source: Featherstone (2008), example 9.2, eq. 9.14-9.16. Not the cheapest way to forward dynamics: the zeros of H
    are lost, see `floating_base_forward_dynamics`. If no base floats, these are `crba` and `bias_forces`.
    Identity: the inverse of H_fl is the joints' block of that of `crba`.

    See Also
    --------
    floating_base_coefficients
    """
    tree = FloatingTree(model, q, v, None, f_ext, base_inertias(model), drifting(model))
    p0c, C = _bias(model, tree)
    I0c, F, H = _blocks(model, crba(model, q))
    inertia, columns = LeafFirst(I0c), [[row[k] for row in F] for k in range(model.nv_joints)]
    G, g = [inertia.solve(column) for column in columns], inertia.solve(p0c)
    C_fl = minus(C, [dot(column, g) for column in columns])
    H_fl = [list(row) for row in H]
    for m, column in enumerate(columns):
        for k in range(m + 1):
            H_fl[m][k] = H_fl[k][m] = H[m][k] - dot(column, G[k])
    return H_fl, C_fl


@algorithm(
    inputs="q",
    outputs="J_fl",
    static=("frame", "reference"),
    symbols={"model": BASE["model"], "q": BASE["q"]},
    geared=False,
)
def floating_base_jacobian(model, q, *, frame, reference):
    r"""Jacobian of a frame on a robot whose floating base recoils: the generalized Jacobian.

    .. math:: J^{fl} = J - (I_0^c)^{-1} F

    Notes
    -----
    Source: Featherstone (2008), example 9.4; Umetani and Yoshida (1989). Differs: in the coordinates of ``reference``.
    If no base floats, this is `jacobian`.

    See Also
    --------
    jacobian, floating_base_coefficients

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("quadruped", floating_base=True)
    >>> foot = robot.body_names[-1]
    >>> kt.floating_base.jacobian(robot, robot.neutral(), frame=foot, reference="world").shape
    (6, 12)
    """
    frame, n = model.frame(frame), model.nv_base
    X_0 = world_transforms(model, q, model.support(frame.body))
    columns = frame_columns(model, q, frame, reference, X_0)[n:]
    take = dict(to_reference(model, q, frame, reference, X_0)).get(1)
    if n and take:
        I0c, F, _ = _blocks(model, crba(model, q))
        inertia = LeafFirst(I0c)
        for k in range(model.nv_joints):
            recoil = take(model.algebra.Motion.of(inertia.solve([row[k] for row in F])))
            columns[k] = -recoil if columns[k] is None else columns[k] - recoil
    return columns_to_rows(model, columns)


def _bias(model, tree):
    """``p_0^c`` and C: the wrench at the base and the joint forces that balance the forces of the bodies."""
    f, C = tree.f, [0.0] * model.nv_joints
    for i in tree.inward():
        C[tree.slot(i)] = tree.S[i].T @ f[i]
        p = model.parent[i]
        if p:
            f[p] = f[p] + tree.X[i].inverse_apply(f[i])
    return list(f[1]) if tree.base else [], C


def _blocks(model, M):
    """``I_0^c, F, H`` of the whole matrix (table 9.5: that of table 6.2 with S = 1 at the base)."""
    n = model.nv_base
    return [row[:n] for row in M[:n]], [row[n:] for row in M[:n]], [row[n:] for row in M[n:]]
