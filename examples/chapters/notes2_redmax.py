"""REDMAX as a notebook: reduced coordinates by the Jacobian of maximal ones.

You learn how one Jacobian turns the equations of free bodies into those of a tree, how a second one reduces it further,
and how constraints, stiffness and linear-time products enter. Sueda, Rigid Body Dynamics Notes, chapter 2.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.constraints import Coupling

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(2)


def same(x, y, tolerance=1e-9):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(y).max())


# %% [markdown]
# ## The Jacobian and its rate (sections 2.1 and 2.2, eq. 2.1-2.17)
#
# The twists of all bodies are Phi = J v: each body moves with its parent and by its own joint (algorithm 1). J has a
# block row for each body, which is zero at joints that do not move it. Algorithm 2 finds its rate in the same pass.

# %%
arm = kt.models.puma_like()
q, (v, a) = arm.random_q(rng), rng.standard_normal((2, arm.nv))
tau = kt.rnea(arm, q, v, a)
J, J_dot = kt.redmax.jacobian(arm, q), kt.redmax.jacobian_rate(arm, q, v)
with kt.interpreted():
    twists = kt.kinematics.body_velocities(arm, q, v, reference="local")
assert same((J @ v)[1:], twists[-arm.nb + 1 :])
h = 1e-6
ahead, behind = (kt.redmax.jacobian(arm, kt.integrate(arm, q, s * h * v)) for s in (1, -1))
assert same((ahead - behind) / (2 * h), J_dot, 1e-8)
filled = np.abs(J[1:]).max(axis=1) > 0.0
print("body by joint:", *("".join("x" if entry else "." for entry in row) for row in filled))

# %% [markdown]
# ## The reduced equation (section 2.3, eq. 2.18)
#
# J^T M J a = J^T (f - M Jdot v) + tau, with the constant M and the Newton-Euler forces f of the bodies. The matrix is
# that of composite bodies, and the forces are the inverse of the recursive Newton-Euler algorithm.

# %%
M_r, f_r = kt.redmax.equation(arm, q, v, tau)
M = np.array([I.matrix() for I in arm.I[1:]])
assert same(np.einsum("bri,brs,bsj->ij", J[1:], M, J[1:]) + np.diag(arm.armature), M_r)
assert same(M_r, kt.crba(arm, q)) and same(np.linalg.solve(M_r, f_r), a, 1e-8)
print("accelerations:", np.linalg.solve(M_r, f_r).round(4))

# %% [markdown]
# ## Products in linear time (sections 2.10 and 2.13, algorithms 5, 6 and 10)
#
# J need not be formed: J x and J^T y are one pass over the tree each, M^-1 x is two.

# %%
x, y = rng.standard_normal(arm.nv), rng.standard_normal((arm.nb, 6))
with kt.interpreted():
    forward = kt.kinematics.body_jacobian_product(arm, q, x, reference="local")
    backward = kt.kinematics.body_jacobian_transpose_product(arm, q, y, reference="local")
    factors = kt.dynamics.factorize(arm, q)
assert same(forward, J @ x) and same(backward, np.einsum("bri,br->i", J[1:], y[1:]))
assert same(factors.solve(M_r @ x), x)

# %% [markdown]
# ## Steps of a chain (section 2.5, eq. 2.19-2.20 and 2.72-2.79)
#
# Semi-implicit Euler needs h^2 K < 4 M. The linearly implicit step, (M + h D + h^2 K) v+ = M v + h (f + D v), takes any
# stiffness: here joint springs whose fastest oscillation has a period of 5 ms, in steps of 10 ms.

# %%
chain = kt.models.n_pendulum(3)
stiff = chain.replace(stiffness=dict.fromkeys(chain.joint_names, 1e4), damping=dict.fromkeys(chain.joint_names, 5.0))
still, largest = np.zeros(3), {}
with kt.interpreted():
    for name, step in (("semi-implicit", kt.redmax.step), ("linearly implicit", kt.redmax.implicit_step)):
        x, w = np.full(3, 0.01), still
        for _ in range(8):
            x, w = step(stiff, x, w, still, 0.01)[:2]
        largest[name] = np.abs(w).max()
        print(f"{name:18} after 8 steps: {largest[name]:.1e} rad/s")
assert largest["linearly implicit"] < 1.0 < 1e6 < largest["semi-implicit"]

# %% [markdown]
# ## Hyper-reduced coordinates (section 2.6, eq. 2.80-2.83)
#
# Joints that turn alike are one freedom: a second Jacobian is chained to the first. A chain of five rods that curls up
# conserves energy, of which all is kinetic or of gravity.

# %%
rods = kt.models.n_pendulum(5)
first, *others = rods.joint_names
curl = rods.with_constraints(*(Coupling(name, first) for name in others))
M_R, f_R = kt.redmax.hyper_reduced(curl, np.full(5, 0.3), np.ones(5), np.zeros(5))
assert M_R.shape == (1, 1) and same(M_R, [[kt.crba(rods, np.full(5, 0.3)).sum()]])
angle, rate, dt, history = 0.6, 0.0, 5e-3, []
for _ in range(300):
    state = np.full(5, angle), np.full(5, rate)
    M_R, f_R = kt.redmax.hyper_reduced(curl, *state, np.zeros(5))
    history.append((angle, kt.kinetic_energy(rods, *state), kt.potential_energy(rods, state[0])))
    rate += dt * f_R[0] / M_R[0, 0]
    angle += dt * rate
angles, kinetic, potential = np.array(history).T
assert np.ptp(kinetic + potential) < 0.02 * np.ptp(potential)
print(f"energy changes by {np.ptp(kinetic + potential):.2f} J while {np.ptp(potential):.1f} J are exchanged")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for shown in angles[:140:28]:
    bend = np.r_[0.0, np.cumsum(np.full(5, shown))]
    left.plot(np.r_[0.0, np.cumsum(np.sin(bend[1:]))], -np.r_[0.0, np.cumsum(np.cos(bend[1:]))], "o-", markersize=3)
left.set(xlabel="x [m]", ylabel="z [m]", title="Joints that turn alike (section 2.6)", aspect="equal")
time = dt * np.arange(len(kinetic))
for values, label in ((kinetic, "kinetic"), (potential - potential.min(), "of gravity")):
    right.plot(time, values, label=label)
right.set(xlabel="time [s]", ylabel="energy [J]", title="Energies")
right.legend()
plt.show()

# %% [markdown]
# ## Constraints (sections 2.8 and 2.9, eq. 2.93-2.107)
#
# Rows act on joints or on the twists of bodies, as equalities or inequalities. Here a joint stands still, and a point
# of the last body must not sink: the KKT system, and the dual with products in linear time, give the same.

# %%
floor = kt.redmax.point_rows(arm, q, v, arm.body_names[-1], [[0, 0, 1]], inequality=True)
still = kt.redmax.prescribed(arm, {arm.joint_names[0]: 0.0})
a, forces = kt.redmax.accelerations(arm, q, v, tau, [floor, still])
dual = kt.redmax.accelerations(arm, q, v, tau, [floor, still], method="dual")
assert same(a, dual.values) and abs(a[0]) < 1e-9 and forces[0] >= 0.0
print("forces along the rows:", forces.round(4))
