"""Chapter 3 as a notebook: equations of motion and constraints, from one body on a hinge to a whole tree.

You learn the free and constrained directions of a joint, three methods for a constrained body, and how the equations of
all bodies and all constraints make one big system. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 3.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import Universal
from kinetree.spatial.dense import crf, crm, mcI, rot, xlt
from kinetree.spatial.subspaces import apparent_inverse_inertia, complement, decompose, split_force

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(3)


def same(x, y):
    return np.allclose(x, y, rtol=1e-10, atol=1e-10)


# %% [markdown]
# ## What a joint allows and what it resists (sections 3.3 and 3.5)
#
# The motions that a joint allows are a subspace S; the forces with which it resists are the forces that do no work on
# it, T with T^T S = 0. Neither needs a metric: the complement of motions is a space of forces (table 3.1).

# %%
S = np.array([s.array() for s in Universal().motion_subspace([0.4, -0.3])], dtype=float).T
T = complement(S)
print("universal joint: motions", S.shape, ", constraint forces", T.shape)
assert same(T.T @ S, 0.0) and S.shape[1] + T.shape[1] == 6

# %% [markdown]
# ## Splitting a force (example 3.1)
#
# A push on a body that can only move in S splits into I S and the complement of S: one part accelerates it, the bearing
# takes the other (eq. 3.28).

# %%
I = mcI(2.0, [0.1, 0.2, 0.0], np.diag([0.02, 0.03, 0.04]))
push = rng.standard_normal(6)
accelerates, resisted = split_force(I, S, push)
for part, expected in zip(decompose(push, I @ S, T), (accelerates, resisted), strict=True):
    assert same(part, expected)
print("of the push", push.round(2), "the bearing takes", resisted.round(2))

# %% [markdown]
# ## One constrained body, three methods (section 3.6)
#
# 1. Project onto S: a = Phi f + b with Phi = S (S^T I S)^-1 S^T.
# 2. Keep the constraint force T lambda as an unknown.
# 3. Generalized coordinates: H qdd + C = tau, which is what the algorithms of the later chapters do.

# %%
q, qd = [0.4, -0.3], [1.5, -0.8]
joint = Universal()
v = np.array(joint.velocity(q, qd).array(), dtype=float)
drift = np.array(joint.bias(q, qd).array(), dtype=float) + crm(v) @ v  # S-dot qd (eq. 3.40)
p = crf(v) @ I @ v
Phi = apparent_inverse_inertia(I, S)
first = Phi @ push + drift - Phi @ (I @ drift + p)  # eq. 3.52-3.55
system = np.block([[I, T], [T.T, np.zeros((4, 4))]])
solved = np.linalg.solve(system, np.r_[push - p, T.T @ drift])  # eq. 3.60; T.T S-dot qd = -T-dot.T v
H, C, tau = S.T @ I @ S, S.T @ (I @ drift + p), S.T @ push  # eq. 3.61-3.64
third = S @ np.linalg.solve(H, tau - C) + drift
assert same(first, solved[:6]) and same(first, third)
b = kt.ModelBuilder("body", gravity=(0, 0, 0))
b.add_body("body", joint=joint, mass=2.0, com=(0.1, 0.2, 0.0), inertia=(0.02, 0.03, 0.04))
assert same(kt.aba(b.build(), q, qd, tau), np.linalg.solve(H, tau - C))
print("bearing force by method 2:", (-T @ solved[6:]).round(3))

# %% [markdown]
# ## Where a drive pushes (example 3.2)
#
# A gear that meets the wheel at (-r, 0, 0) drives the hinge with tau = -r f. The motion does not depend on r, what the
# bearings transmit does.

# %%
hinge = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
for r in (0.05, 0.2):
    contact = np.array([0.0, 0.0, -r, 0.0, 1.0, 0.0])
    T_a = contact / (contact @ hinge)
    print(f"r = {r}: T_a = {T_a}; 1 N m at the hinge loads the bearing with {abs(T_a[4]):.0f} N")
    assert same(T_a, [0, 0, 1, 0, -1 / r, 0]) and same(T_a @ hinge, 1.0)

# %%
radii = np.linspace(0.02, 0.5, 100)
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.plot(radii, [abs((c := np.array([0, 0, -r, 0, 1, 0]))[4] / (c @ hinge)) for r in radii])
ax.set(xlabel="distance of the drive from the hinge [m]", ylabel="bearing force [N]", ylim=(0, 50))
ax.set_title("Force in the bearing for 1 N m at the hinge (example 3.2)")
plt.show()

# %% [markdown]
# ## Constraints in two forms (section 3.2)
#
# A double pendulum whose joints are coupled, q2 = rho q1: implicit, K qdd = 0 with a multiplier (eq. 3.17), or
# explicit, qdd = G ydd, which leaves G^T H G ydd = G^T (tau - C) (eq. 3.20). `forward_dynamics` does the latter.

# %%
rho = -2.0
free = kt.models.double_pendulum()
b = kt.ModelBuilder.of(free)
b.add_coupling("elbow", "shoulder", rho)
coupled = b.build()
q, v, tau = np.array([0.3, 0.3 * rho]), np.array([1.0, rho]), np.array([0.5, 0.1])
M, c = kt.crba(free, q), kt.bias_forces(free, q, v)
K, G = np.array([[rho, -1.0]]), np.array([[1.0], [rho]])
implicit = np.linalg.solve(np.block([[M, K.T], [K, np.zeros((1, 1))]]), np.r_[tau - c, 0.0])
explicit = G @ np.linalg.solve(G.T @ M @ G, G.T @ (tau - c))
assert same(K @ G, 0.0) and same(implicit[:2], explicit)
assert same(kt.forward_dynamics(coupled, q, v, tau), explicit)
print("coupled pendulum: accelerations", explicit, ", the gear transmits", -K.T[:, 0] * implicit[2], "N m")
assert same(-K.T[:, 0] * implicit[2] @ v, 0.0)  # constraint forces do no work (eq. 3.16)

# %% [markdown]
# ## All bodies, all constraints (section 3.7)
#
# Two rods: twelve accelerations of bodies and ten constraint forces in one system (eq. 3.74). It gives what the
# recursions give, for a hundred times the work: that is why there are other chapters.

# %%
x, tau = [0.3, -0.5], np.array([0.2, -0.1])
poses = kt.forward_kinematics(free, x)
twists = kt.kinematics.body_velocities(free, x, v, reference="world")
J = kt.kinematics.frame_jacobians(free, x, reference="world")
rows, right = [], []
bodies, forces = np.zeros((12, 12)), np.zeros(12)
P = np.zeros((12, 12))
for i in free.outward():
    X = rot(poses.R_WB[i].T) @ xlt(poses.p_WB[i])  # from the world to body i
    I_i = X.T @ free.I[i].matrix() @ X
    here = slice(6 * i - 6, 6 * i)
    bodies[here, here] = I_i
    forces[here] = I_i @ np.r_[0, 0, 0, 0, 0, -9.81] - crf(twists[i]) @ I_i @ twists[i]
    P[here, here] = np.eye(6)
    if free.parent[i]:
        P[6 * free.parent[i] - 6 : 6 * free.parent[i], here] = -np.eye(6)
    s = J[i][:, [i - 1]]
    T_i = complement(s)
    active = np.linalg.pinv(s)[0] * tau[i - 1]
    forces = forces + P[:, here] @ active
    rows.append(P[:, here] @ T_i)
    right.append(T_i.T @ crm(twists[i]) @ s[:, 0] * v[i - 1])
PT = np.hstack(rows)
whole = np.block([[bodies, PT], [PT.T, np.zeros((10, 10))]])
solved = np.linalg.solve(whole, np.r_[forces, np.concatenate(right)])
qdd = kt.aba(free, x, v, tau)
expected = kt.kinematics.body_accelerations(free, x, v, qdd, reference="world", kind="spatial")
assert same(solved[:12].reshape(2, 6), expected[1:])
print(f"{len(whole)} equations for {free.nv} accelerations: {qdd}")
