"""Chapter 7 as a notebook: articulated bodies, and forward dynamics without a mass matrix.

You learn the apparent inertia of a mechanism at a handle, how two mechanisms become one, and the algorithm that
follows: linear in the number of bodies. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.spatial import ArticulatedInertia, Motion, Vector3

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(7)


def same(x, y):
    return np.allclose(x, y, rtol=1e-9, atol=1e-9)


# %% [markdown]
# ## A box with a cylinder in its slot (example 7.1)
#
# Push the box: along y the cylinder slides in its slot and does not come along, along x and z it must. About x it does
# not turn along. So the box has another mass in each direction: no rigid body has that, but an articulated body
# does, with f = I^A a + p^A (eq. 7.2) and a symmetric, positive I^A of 21 numbers.

# %%
m1, I1, m2, I2 = 2.0, 0.5, 1.0, 0.3
box = kt.models.box_cylinder(m1, I1, m2, I2)
IA, pA = kt.dynamics.articulated_inertia(box, box.neutral(), handles="box")
print("diagonal of I^A:", np.diag(IA).round(12))
assert same(IA, np.diag([I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2])) and same(pA, 0.0)

# %% [markdown]
# ## Projection (section 7.2, eq. 7.5-7.14)
#
# A force on the box is a joint force J^T f; the box accelerates by J qdd. So the inverse of I^A is J H^-1 J^T. That
# inverse always exists, of whatever rank; for a hand it is the inverse of the operational-space inertia.

# %%
J, H = kt.jacobian(box, box.neutral(), frame="box", reference="local"), kt.crba(box, box.neutral())
assert same(np.linalg.inv(J @ np.linalg.solve(H, J.T)), IA)
arm = kt.load("arm7")
q = arm.random_q(rng)
Phi, _ = kt.dynamics.articulated_inverse_inertia(arm, q, handles="forearm_link")
print("the forearm of a fixed arm has", np.linalg.matrix_rank(Phi, tol=1e-9), "freedoms")
assert np.linalg.matrix_rank(Phi, tol=1e-9) == len(arm.support(arm.body("forearm_link")))

# %% [markdown]
# ## Assembly (eq. 7.15-7.20)
#
# Body 2 is connected to body 1 by a joint, through which I^a = I_2 - I_2 S (S^T I_2 S)^-1 S^T I_2 acts. It vanishes for
# the joint's own motions, I^a S = 0; the articulated-body inertia of body 1 is I^A = I_1 + I^a.

# %%
cylinder, hull = np.diag([I2, I2, I2, m2, m2, m2]), np.diag([I1, I1, I1, m1, m1, m1])
S = np.eye(6)[:, [0, 4]]  # turns about x, slides along y
Ia = cylinder - cylinder @ S @ np.linalg.solve(S.T @ cylinder @ S, S.T @ cylinder)
assert same(hull + Ia, IA) and same(Ia @ S, 0.0)

# %% [markdown]
# ## The articulated-body algorithm (table 7.1)
#
# Outward velocities, inward articulated inertias and bias forces, outward accelerations. Three loops, for joints of one
# freedom here; the library's takes any.


# %%
def articulated_bodies(model, q, qd, tau):
    X, v, c, IA, pA, S, U, D, u = ([None] * model.nb for _ in range(9))
    v[0] = Motion.zero()
    for i in model.outward():
        joint, q_i = model.joints[i], model.q_of(i, q)
        X[i], v_J = joint.transform(q_i) @ model.X_T[i], joint.velocity(q_i, model.v_of(i, qd))
        (S[i],) = joint.motion_subspace(q_i)
        v[i] = X[i] @ v[model.parent[i]] + v_J
        c[i] = joint.bias(q_i, model.v_of(i, qd)) + v[i].cross(v_J)  # eq. 7.35
        IA[i], pA[i] = ArticulatedInertia.of(model.I[i]), v[i].cross(model.I[i] @ v[i])  # eq. 7.36
    for i in model.inward():
        k, p = model.v_slice[i].start, model.parent[i]
        U[i] = IA[i] @ S[i]  # eq. 7.43
        D[i], u[i] = U[i].dot(S[i]) + model.armature[k], tau[k] - S[i].dot(pA[i])  # eq. 7.44, 7.45
        if p:
            Ia = IA[i].minus_dyad(U[i], 1.0 / D[i])  # eq. 7.47
            pa = pA[i] + Ia @ c[i] + U[i] * (u[i] / D[i])  # eq. 7.48
            IA[p], pA[p] = IA[p] + X[i].inverse_apply(Ia), pA[p] + X[i].inverse_apply(pa)
    a, qdd = [Motion(Vector3.zero(), -model.gravity)], np.zeros(model.nv)
    for i in model.outward():
        k = model.v_slice[i].start
        a_i = X[i] @ a[model.parent[i]] + c[i]  # eq. 7.46
        qdd[k] = (u[i] - U[i].dot(a_i)) / D[i]  # eq. 7.49
        a.append(a_i + S[i] * qdd[k])
    return qdd


qd, tau = rng.standard_normal((2, arm.nv))
qdd = articulated_bodies(arm, q, qd, tau)
assert same(qdd, kt.aba(arm, q, qd, tau))
assert same(kt.rnea(arm, q, qd, qdd), tau)
print("accelerations of the arm:", qdd.round(2))

# %% [markdown]
# ## Other formulae for the same assembly (section 7.4), and in pairs (section 7.5)
#
# Table 7.2's variants work with constraint forces instead of joint motions; divide and conquer joins neighbors, then
# pairs of pairs: a chain of n bodies takes ceil(log2 n) levels, which a parallel machine does at once.

# %%
snake = kt.models.chain_gu(8)
x, xd, t = 0.5 * rng.standard_normal((3, 8))
others = (
    kt.dynamics.forward_dynamics_crba, kt.textbook.aba_inverse_inertias, kt.textbook.aba_implicit_joints,
    kt.dynamics.divide_and_conquer,
)  # fmt: skip
with kt.interpreted():
    expected = kt.aba(snake, x, xd, t)
    for other in others:
        found = other(snake, x, xd, t)
        print(f"{other.__name__:>22}: {found[:3]} ...")
        assert same(found, expected)
assert kt.dynamics.assembly_tree(snake).depth == 3

# %% [markdown]
# ## Linear cost (section 7.3)
#
# Each further joint costs the same; the mass-matrix method grows with the cube of a chain's length. Which is cheaper
# is a question of n: for the book's counts they meet at 8 or 9 joints (figure 10.4).

# %%
costs = {"aba": [], "forward_dynamics_crba": []}
for n in (2, 6, 8, 12):
    for name, counts in costs.items():
        counts.append(kt.compile(kt.models.chain_gu(n), name).operations.total)
    aba, crba = (counts[-1] for counts in costs.values())
    print(f"{n:3} joints: articulated bodies {aba}, mass matrix {crba}")
assert crba > aba

# %%
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, counts in costs.items():
    ax.plot((2, 6, 8, 12), counts, "o-", label=name)
ax.set(xlabel="joints", ylabel="operations", title="Forward dynamics of a chain (figure 10.4)")
ax.legend(["articulated bodies", "mass matrix"])
plt.show()
