"""Two arms as a notebook: a jointed object held by two robots, its motion and the force in it controlled apart.

You learn to model two arms that hold an object of two bodies, to reduce the model by pseudovelocities, and to control
motion and contact force without influence on each other. Unseren, ORNL/TM-11752 (1991).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(4)


def same(x, y, tolerance=1e-8):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance * max(1.0, np.abs(y).max()))


# %% [markdown]
# ## The closed chain (sections 2 to 4, eq. 1-19)
#
# Each arm holds one body of the object rigidly; a ball joint connects the bodies. It takes away three of the velocities
# of both arms: N_1 + N_2 - 3 remain (eq. 19). `TwoArms.hold` closes the ball joint of a model by a loop joint.

# %%
arm = kt.models.puma_like()
body = kt.control.Held(arm.body_names[-1], mass=1.0, com=(0, 0, 0.1), ball=(0, 0, 0.2), inertia=(0.01, 0.01, 0.002))
model = kt.control.TwoArms.hold(arm, arm, body, body, placement=((0.9, 0, 0), (0, 0, np.pi)))
q = kt.assemble(model, np.resize([0.2, -1.2, 1.4, 0.5, 0.7, 0.3], 12))
arms = kt.control.TwoArms(model, q=q)
assert arms.dof == kt.closed_loops.mobility(model, q).mobility == 9 and np.abs(arms.gap(q)).max() < 1e-10
print(model.nv, "joints,", arms.dof, "freedoms")

# %% [markdown]
# ## The model in the joints (section 5, eq. 23-33)
#
# D a + c = tau - A^T f with A a + A' v = 0. The force f in the ball joint follows from the torques; the same motion has
# a family of torques, one for each force, since Delta = 1 - A^T (A D^-1 A^T)^-1 A D^-1 has the rank 9.

# %%
v = arms.velocity(q, rng.standard_normal(9))
tau = 5.0 * rng.standard_normal(12)
with kt.interpreted():  # one evaluation is not worth a compilation
    a, multipliers = kt.forward_dynamics(model, q, v, tau, multipliers=True)
f = kt.pose(model, q, frame="object_2.ball").R_WF @ multipliers
assert same(arms.accelerations(q, v, tau), a) and same(arms.contact_force(q, v, tau), f)
x = arms.terms(q, v)
assert same(x.A @ v, 0.0) and same(x.A @ a + x.A_rate, 0.0)
pushed = arms.torques(q, v, a, force=f + [0.0, 0.0, 50.0])
assert same(arms.accelerations(q, v, pushed), a) and same(arms.contact_force(q, v, pushed) - f, [0.0, 0.0, 50.0])
print("rank of Delta:", np.linalg.matrix_rank(arms.delta(q), tol=1e-8), "- 50 N more in the joint, the same motion")

# %% [markdown]
# ## Who carries the load (section 3, eq. 3-12)
#
# At rest the arms carry the object; the force in the ball joint decides how its weight is shared.

# %%
still = np.zeros(12)
for force in (-9.81, 0.0, 9.81):
    tau_hold = arms.torques(q, still, still, force=(0.0, 0.0, force))
    wrenches = kt.control.grasp_wrenches(arms, (body, body), q, still, tau_hold)
    lifts = [wrench[5] for wrench in wrenches]
    assert same(lifts, [9.81 + force, 9.81 - force])
    print(f"joint force {force:5.2f} N: the hands lift", np.round(lifts, 6) + 0.0, "N")

# %% [markdown]
# ## Pseudovelocities (section 6, eq. 34-41; appendix C)
#
# nu = B v, nine velocities of the object. [A; B]^-1 = [Pi, Sigma], so v = Sigma nu obeys the loop for every nu, and
# the equation of motion multiplied by Sigma^T has no contact force.

# %%
assert same(np.vstack((x.A, x.B)) @ np.hstack((x.Pi, x.Sigma)), np.eye(12)) and same(x.Sigma @ (x.B @ v), v)
with kt.interpreted():
    D, c = kt.crba(model, q), kt.bias_forces(model, q, v)
nu_rate = np.linalg.solve(
    x.Sigma.T @ D @ x.Sigma, x.Sigma.T @ (tau - c + D @ (x.Pi @ x.A_rate + x.Sigma @ x.B_rate))
)  # eq. 40
assert same(nu_rate, x.B @ a + x.B_rate)
nu = arms.pseudovelocity(q, v)
assert same(arms.pseudoacceleration(q, nu, tau), nu_rate)
print("rates of the pseudovelocities:", nu_rate[:3].round(2), "rad/s^2 of the second body")

# %% [markdown]
# ## Decoupled control (section 7, eq. 42-48)
#
# tau = c - D (Pi A' + Sigma B') + A^T tau_1 + D Sigma tau_2 makes f = tau_1 and nu' = tau_2. A step of the force does
# not move the object, and a motion does not change the force: here the object rises by 2 cm while the force is a sine.


# %%
here, weight = kt.control.load_position(arms, q), np.array([0.0, 0.0, 5.0])


def motion(t):
    s, rate, acceleration = t**3 * (10 - 15 * t + 6 * t * t), 30 * (t - t * t) ** 2, 60 * (t - t * t) * (1 - 2 * t)
    up = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.0, 0.0])
    return here._replace(p=here.p + s * up[3:6]), rate * up, acceleration * up


def force(t):
    return weight + [10.0 * np.sin(8.0 * t), 0.0, 0.0]


controller = kt.control.DecoupledControl(arms, kt.control.LoadTracking(arms, motion), force)
dt, nu, heights, forces = 0.01, np.zeros(9), [], []
time, x = dt * np.arange(101), q
for t in time:
    v = arms.velocity(x, nu)
    tau = controller(t, x, v)
    heights.append(kt.control.load_position(arms, x).p[2] - here.p[2])
    forces.append(arms.contact_force(x, v, tau))
    x, nu = arms.step(x, nu, tau, dt)
wanted = [motion(t)[0].p[2] - here.p[2] for t in time]
error = np.abs(np.subtract(heights, wanted)).max()
assert same(forces, [force(t) for t in time]) and error < 1e-4
print(f"errors: {1e3 * error:.3f} mm, {np.abs(np.subtract(forces, [force(t) for t in time])).max():.1e} N")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(time, 1e3 * np.array(heights), label="object")
left.plot(time, 1e3 * np.array(wanted), ":", label="commanded")
left.set(xlabel="time [s]", ylabel="height [mm]", title="Motion (eq. 47)")
left.legend()
for k, axis in enumerate("xyz"):
    right.plot(time, np.array(forces)[:, k], label=axis)
right.set(xlabel="time [s]", ylabel="force [N]", title="Force in the ball joint (eq. 48)")
right.legend(ncols=3)
plt.show()
