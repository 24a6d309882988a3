"""Chapter 6 as a notebook: forward dynamics by the mass matrix, and the zeros that branches leave in it.

You learn the composite-rigid-body algorithm by writing it, four meanings of the mass matrix, and factorizations that
never touch a zero. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 6.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(6)
robot = kt.load("quadruped", floating_base=True)
q, v = robot.random_q(rng), 0.5 * rng.standard_normal(robot.nv)


def same(x, y):
    return np.allclose(x, y, rtol=1e-9, atol=1e-9)


# %% [markdown]
# ## The algorithm (table 6.2)
#
# Accelerate joint i alone, from rest and without gravity: its subtree moves as one rigid body, of the composite
# inertia Ic_i. The force for that goes through joint i and every joint on the path to the base (figure 6.1);
# its components along their axes are the entries of M.


# %%
def composite_rigid_bodies(model, q):
    X, S, Ic = ([None] * model.nb for _ in range(3))
    M = np.zeros((model.nv, model.nv))
    for i in model.outward():
        joint, q_i = model.joints[i], model.q_of(i, q)
        X[i], S[i], Ic[i] = joint.transform(q_i) @ model.X_T[i], joint.motion_subspace(q_i), model.I[i]
    for i in model.inward():
        if model.parent[i]:
            Ic[model.parent[i]] = Ic[model.parent[i]] + X[i].inverse_apply(Ic[i])  # eq. 6.17
        for m, S_m in enumerate(S[i], model.v_slice[i].start):
            F, j = Ic[i] @ S_m, i
            while j:
                for n, S_n in enumerate(S[j], model.v_slice[j].start):
                    if n <= m:
                        M[m, n] = M[n, m] = F.dot(S_n) + (model.armature[m] if m == n else 0.0)
                F, j = X[j].inverse_apply(F), model.parent[j]
    return M


M = composite_rigid_bodies(robot, q)
assert same(M, kt.crba(robot, q))
print(f"M of the quadruped: {M.shape}, {np.count_nonzero(M)} entries, all eigenvalues positive")
assert np.linalg.eigvalsh(M)[0] > 0.0

# %% [markdown]
# ## What the mass matrix is (section 6.1)
#
# The Hessian of the kinetic energy; the joint forces for unit accelerations, column by column (table 6.1); the sum of
# J^T I J over the bodies (eq. 6.5-6.11); and inverse dynamics from accelerations to forces, H qdd + C = tau (eq. 6.1).

# %%
assert same(0.5 * v @ M @ v, kt.kinetic_energy(robot, q, v))
assert same(kt.textbook.mass_matrix_columns(robot, q), M)
assert same(kt.textbook.mass_matrix_jacobians(robot, q), M)
a = rng.standard_normal(robot.nv)
assert same(kt.rnea(robot, q, v, a), M @ a + kt.bias_forces(robot, q, v))
for name in ("crba", "mass_matrix_jacobians", "mass_matrix_columns"):
    print(f"{name:>22}: {kt.compile(kt.models.chain_gu(6), name).operations.total:5} operations for six general joints")

# %% [markdown]
# ## Branches make zeros (section 6.4)
#
# M_ij is zero unless one of the joints supports the other. The legs of a quadruped are coupled only through the
# trunk. What counts are the depths of the joints: M has n + 2 D1 entries, its factorization takes D2 steps.

# %%
assert not M[~robot.mass_matrix_pattern()].any()
legs = robot.branching()
chain = kt.models.chain_gu(robot.nv).branching()
print(f"quadruped: density {legs.density:.2f}, D1 = {legs.D1}, D2 = {legs.D2}; a chain of {robot.nv}: D2 = {chain.D2}")
assert robot.mass_matrix_pattern().sum() == legs.nonzeros and chain.D2 == (robot.nv**3 - robot.nv) // 6  # eq. 6.28
n, d = legs.n, legs.depth
assert legs.D1 <= n * (d - 1) and legs.D2 <= n * d * (d - 1) / 2  # eq. 6.29

# %% [markdown]
# Gaussian elimination from the leaves to the root, M = L^T L or L^T D L, leaves every zero a zero (table 6.3). The
# usual order, M = L L^T, fills them.

# %%
L, D = kt.sparse.ltdl(robot, q)
usual = np.linalg.cholesky(M)
lower = np.tril(np.ones_like(M)).astype(bool)
print(
    f"entries below the diagonal: M {legs.D1}, L of L^T D L {np.count_nonzero(np.tril(L, -1))}, "
    f"L of L L^T {np.count_nonzero(np.abs(np.tril(usual, -1)) > 1e-14)}"
)
assert same(L.T @ np.diag(D) @ L, M)
assert not np.any(L[lower & ~robot.mass_matrix_pattern()])

# %%
figure, panels = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
for ax, matrix, title in zip(panels, (M, L, usual), ("M", "L of the tree's LTDL", "Cholesky's L"), strict=True):
    ax.spy(np.abs(matrix) > 1e-14, markersize=5)
    ax.set(title=f"{title}: {np.count_nonzero(np.abs(matrix) > 1e-14)} entries", xticks=[], yticks=[])
plt.show()

# %% [markdown]
# The factors are used in the same way: multiply and solve along the branches only (tables 6.5 and 6.6).

# %%
tau = rng.standard_normal(robot.nv)
y = kt.sparse.ltdl_solve(robot, L, D, tau - kt.bias_forces(robot, q, v))
assert same(y, kt.aba(robot, q, v, tau)) and same(kt.dynamics.forward_dynamics_crba(robot, q, v, tau), y)
assert same(kt.sparse.lower_product(robot, L, y), L @ y) and same(kt.sparse.symmetric_product(robot, M, y), M @ y)
cost = kt.compile(robot, "ltdl_solve").operations
print(f"solving costs {cost.total} operations: n divisions and 2 D1 products and sums are {n + 4 * legs.D1}")
assert cost.total == n + 4 * legs.D1

# %% [markdown]
# ## One column, seen as physics (section 6.3, eq. 6.21-6.25)
#
# From rest, one unit of acceleration at a knee: the shank alone moves, and forces are needed at the joints that
# support it. The other legs need none.

# %%
knee = robot.v_index("FL_knee").start
still = robot.replace(gravity=(0.0, 0.0, 0.0))
column = kt.rnea(still, q, np.zeros(robot.nv), np.eye(robot.nv)[knee])
loaded = [label for label, x in zip(robot.velocity_labels, column, strict=True) if x != 0.0]
print("a turn of FL_knee needs forces at", loaded)
assert same(column, M[:, knee]) and not any(label.startswith(("FR", "RL", "RR")) for label in loaded)
