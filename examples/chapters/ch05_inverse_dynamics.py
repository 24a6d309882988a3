"""Chapter 5 as a notebook: inverse dynamics, the forces that make a robot move as it does.

You learn the recursive Newton-Euler algorithm by writing it in twenty lines, what its parts are worth, and why it is
fast. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 5.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.spatial import Motion, Vector3

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(5)
robot = kt.load("humanoid")
q = robot.random_q(rng)
qd, qdd = 0.5 * rng.standard_normal((2, robot.nv))


def same(x, y):
    return np.allclose(x, y, rtol=1e-10, atol=1e-10)


# %% [markdown]
# ## The algorithm (table 5.1)
#
# Outward: velocities and accelerations of the bodies, and the forces f_B = I a + v x* I v that they need. Inward: the
# force through each joint is what its own body needs and what the bodies beyond it need. Gravity is an acceleration of
# the base. This is how the library's source reads, too; it runs on numbers here, and on symbols when it is compiled.


# %%
def inverse_dynamics(model, q, qd, qdd):
    v, a, f, X = ([None] * model.nb for _ in range(4))
    v[0], a[0] = Motion.zero(), Motion(Vector3.zero(), -model.gravity)  # a_0 = -a_g
    for i in model.outward():
        p, joint, q_i = model.parent[i], model.joints[i], model.q_of(i, q)
        X[i] = joint.transform(q_i) @ model.X_T[i]
        v_J, c_J = joint.velocity(q_i, model.v_of(i, qd)), joint.bias(q_i, model.v_of(i, qd))
        v[i] = X[i] @ v[p] + v_J  # eq. 5.18
        a[i] = X[i] @ a[p] + c_J + v[i].cross(v_J)  # eq. 5.19
        for S_k, qdd_k in zip(joint.motion_subspace(q_i), model.v_of(i, qdd), strict=True):
            a[i] = a[i] + S_k * qdd_k
        f[i] = model.I[i] @ a[i] + v[i].cross(model.I[i] @ v[i])  # eq. 5.9
    tau = model.armature * qdd
    for i in model.inward():
        for k, S_k in enumerate(model.joints[i].motion_subspace(model.q_of(i, q)), model.v_slice[i].start):
            tau[k] += S_k.dot(f[i])  # eq. 5.11
        if model.parent[i]:
            f[model.parent[i]] = f[model.parent[i]] + X[i].inverse_apply(f[i])  # eq. 5.20
    return tau


tau = inverse_dynamics(robot, q, qd, qdd)
assert same(tau, kt.rnea(robot, q, qd, qdd))
print(f"{robot.nv} joint forces of the humanoid, the largest at {robot.velocity_labels[np.abs(tau).argmax()]}")

# %% [markdown]
# ## Other methods for the same forces (sections 5.3 and 5.4)
#
# In absolute coordinates (eq. 5.7-5.11); in vectors of three, as Luh, Walker and Paul wrote it (table 5.2); by the
# equation of motion itself, H qdd + C.

# %%
assert same(kt.textbook.rnea_world(robot, q, qd, qdd), tau)
assert same(kt.textbook.newton_euler(robot, q, qd, qdd), tau)
assert same(kt.crba(robot, q) @ qdd + kt.bias_forces(robot, q, qd), tau)
for name in ("rnea", "newton_euler", "rnea_world"):
    print(f"{name:>12}: {kt.compile(kt.models.chain_gu(6), name).operations.total:5} operations for six general joints")

# %% [markdown]
# ## Parts (section 5.3)
#
# Gravity alone, velocities alone, accelerations alone, external forces alone: each is a shorter algorithm, and together
# they are the whole. Gravity's part is the slope of the potential energy.

# %%
hand = robot.body("right_hand")
f_ext = np.zeros((robot.nb, 6))
f_ext[hand, 3:] = (0.0, 0.0, -50.0)  # 5 kg in the hand, at the world's origin: see below
parts = {
    "gravity": kt.gravity_forces(robot, q),
    "Coriolis and centrifugal": kt.dynamics.coriolis_forces(robot, q, qd),
    "inertial": kt.dynamics.inertial_forces(robot, q, qdd),
    "external": kt.dynamics.external_forces(robot, q, f_ext),
}
for name, part in parts.items():
    print(f"{name:>25}: up to {np.abs(part).max():7.3f} N m")
assert same(sum(parts.values()), kt.rnea(robot, q, qd, qdd, f_ext))
h = 1e-6
slope = kt.potential_energy(robot, kt.integrate(robot, q, h * qd)) - kt.potential_energy(
    robot, kt.integrate(robot, q, -h * qd)
)
assert np.isclose(slope / (2 * h), parts["gravity"] @ qd, rtol=1e-6)

# %%
largest = np.argsort(-np.abs(tau))[:8]  # the eight largest joint forces
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for k, (name, part) in enumerate(parts.items()):
    ax.barh(np.arange(8) + 0.2 * k, part[largest], height=0.2, label=name)
ax.set_yticks(np.arange(8) + 0.3, [robot.velocity_labels[k] for k in largest])
ax.invert_yaxis()
ax.set(xlabel="joint force [N m or N]", title="Four parts of the joint forces")
ax.legend()
plt.show()

# %% [markdown]
# ## Bearing forces (eq. 3.34)
#
# The f_i of the recursion are the forces through the joints. Their part along S is the joint force; the rest a drive
# does not provide, but the bearings must.

# %%
F = kt.dynamics.joint_wrenches(robot, q, qd, qdd, reference="local")
for name in ("left_hip_pitch", "neck_pitch"):
    i = robot.joint(name)
    (axis,) = robot.joints[i].motion_subspace([0.0])
    k = robot.v_slice[i].start
    assert np.isclose(axis.array() @ F[i], tau[k] - robot.armature[k] * qdd[k])
    print(f"{name}: {tau[k]:.2f} N m by the drive, {np.linalg.norm(F[i, 3:]):.1f} N by the bearing")

# %% [markdown]
# A wrench is about the origin of its coordinates. To act at the hand, the moment p x f belongs to the force.

# %%
p = kt.forward_kinematics(robot, q).p_WB[hand]
f_ext[hand, :3] = np.cross(p, f_ext[hand, 3:])
elbow = robot.v_index("right_elbow").start
payload = kt.rnea(robot, q, qd, qdd, f_ext) - tau
J = kt.jacobian(robot, q, frame="right_hand", reference="local_world_aligned")
assert same(payload, -J[3:].T @ f_ext[hand, 3:])
print(f"50 N in the right hand: {payload[elbow]:+.2f} N m at the elbow")

# %% [markdown]
# ## Why recurrence relations (section 5.2)
#
# With v_i = v_(i-1) + s_i q_i' all velocities of a chain take n products and n sums of vectors; from the closed form
# each takes i of them (eq. 5.2-5.3). For the dynamics the closed form (eq. 5.6) is of fourth order in n. The recursion
# of table 5.1 costs the same for every further joint; the best count in the book is 93m + 81a each (table 10.1).

# %%
costs = [kt.compile(kt.models.chain_gu(n), "rnea").operations for n in (3, 4, 5, 6)]
counts = np.array([(cost.multiplications, cost.additions) for cost in costs])
steps = [tuple(step) for step in np.diff(counts, axis=0).tolist()]
print("a joint more costs", steps[-1], "multiplications and additions")
assert len(set(steps)) == 1 and steps[0] <= (93, 81)
