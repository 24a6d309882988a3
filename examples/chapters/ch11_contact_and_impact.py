"""Chapter 11 as a notebook: forces and impulses of rigid contacts, events, friction, and soft contact.

You learn how contact forces follow from complementarity, what an impact does, how a motion is simulated from event to
event, and what friction and soft surfaces add. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 11.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.collision import Ground
from kinetree.spatial import Inertia, Symmetric3, Vector3

plt.style.use(kt.viz.STYLE)
g, rng = 9.81, np.random.default_rng(11)


def same(x, y, tolerance=1e-9):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance)


# %% [markdown]
# ## Force or separation (section 11.1 to 11.4)
#
# At a contact either the acceleration of separation is zero and a force pushes, or the bodies separate without force:
# xi = M lambda + d, xi >= 0, lambda >= 0, xi . lambda = 0 (eq. 11.42). Two contacts of one body may contradict each
# other: in a slot whose walls have opposite normals xi_1 + xi_2 = d_1 + d_2, whatever the forces (example 11.1).

# %%
M = np.array([[1.0, -1.0], [-1.0, 1.0]])
for what, d in (("widens", [-1.0, 3.0]), ("keeps its width", [-2.0, 2.0]), ("narrows", [-3.0, 2.0])):
    found = kt.contact.solve_lcp(M, d)
    assert (found.status == "solved") == (sum(d) >= 0.0)
    print(f"a slot that {what}: {found.status}", found.x if found.status == "solved" else "")

# %% [markdown]
# The forces of many contacts need not be unique, as those of a table with four legs; the accelerations are. They are
# also those of least constraint, in Gauss's sense: a quadratic program (eq. 11.43-11.44).

# %%
corners = np.array([[x, y, 0.0] for x in (-1, 1) for y in (-1, 1)])
N = np.array([[y, -x, 1.0] for x, y, _ in corners])  # rows: velocities of the corners for (wx, wy, vz)
M, d = N @ np.linalg.inv(np.diag([0.4, 0.4, 1.0])) @ N.T, np.full(4, -g)
found = {method: kt.contact.solve_lcp(M, d, method) for method in ("lemke", "principal_pivoting")}
for method, x in found.items():
    print(f"{method:18} forces {x.x.round(3)}, wrench {(N.T @ x.x).round(3)}")
    assert same(N.T @ x.x, [0.0, 0.0, g]) and same(x.w, 0.0)

# %% [markdown]
# ## States and accelerations of a model (section 11.3, figure 11.4)
#
# A ball on the floor. `contact_accelerations` classifies the contacts, sets up M and d (eq. 11.35, 11.36) and solves
# the problem, with friction: a ball that slides is slowed by mu g.

# %%
ball = kt.models.free_shape("sphere", 0.1)


def on_floor(**material):
    return ball.with_contacts(ground=Ground(**material))


still, v = np.zeros(6), np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0])
for what, q_z, v_z in (("in the air", 0.2, 0.0), ("on the floor", 0.1, 0.0), ("leaves", 0.1, 1.0), ("hits", 0.1, -1.0)):
    gaps = kt.collision.contact_gaps(on_floor(), [0, 0, q_z, 1, 0, 0, 0])
    rates = kt.collision.contact_jacobian(on_floor(), [0, 0, q_z, 1, 0, 0, 0])[2::3] @ [0, 0, 0, 0, 0, v_z]
    print(f"{what:13} gap {gaps[0]:.1f} m, rate {rates[0]:4.1f} m/s:", *kt.contact.contact_states(gaps, rates))
slides = kt.contact.contact_accelerations(on_floor(friction=0.2), [0, 0, 0.1, 1, 0, 0, 0], v, still)
assert same(slides.forces / ball.total_mass, [[-0.2 * g, 0.0, g]])

# %% [markdown]
# ## Impacts (section 11.7)
#
# Impulses stop the approach, e times its speed is returned (eq. 11.60-11.65). Without friction only the normal velocity
# changes; friction that arrests the slip leaves a solid sphere 5/7 of its tangential velocity (eq. 11.72).

# %%
sphere = Inertia.from_com(1.0, Vector3(0.0, 0.0, 0.0), Symmetric3.diagonal(0.4, 0.4, 0.4))
thrown, e, kept = [0, 0, 0, 7, 0, -1], 0.8, []
coefficients = np.linspace(0.0, 2.0, 81)
for mu in coefficients:
    after = kt.contact.collide(None, sphere, still, thrown, (0, 0, 1), (0, 0, -1), restitution=e, friction=mu).second
    kept.append(after[3])
    assert same(after[5], e) and same(after[3], max(7.0 - (1 + e) * mu, 5.0))
print("tangential velocity 7 m/s becomes", kept[0], "without friction,", round(kept[-1], 12), "with enough of it")

# %% [markdown]
# Several impacts at once need a law, since rigid bodies do not determine the result. Newton's cradle:

# %%
J = np.zeros((6, 3))  # two contacts of three balls in a row
J[2], J[5] = (-1, 1, 0), (0, -1, 1)
for law in ("newton", "poisson", "sequential"):
    hit = kt.contact.impact(J @ J.T, (J @ [1.0, 0.0, 0.0]).reshape(2, 3), restitution=1.0, law=law)
    after = np.array([1.0, 0.0, 0.0]) + J.T @ hit.impulses.ravel()
    print(f"{law:10}", after.round(4))
    assert same(after.sum(), 1.0) and same(after @ after, 1.0)  # momentum and energy

# %% [markdown]
# ## From event to event (section 11.5, table 11.1)
#
# The motion is smooth between impacts, which are found in time. A ball with e = 1/2 comes to rest after infinitely many
# bounces, at t_1 (1 + e) / (1 - e). A ball that is thrown along the floor slides until 2/7 v / (mu g), and then rolls.

# %%
q_high = [0, 0, 1.1, 1, 0, 0, 0]
bounce = kt.simulate(on_floor(restitution=0.5), q_high, duration=1.6, dt=0.02, integrator="event_driven")
t_1 = np.sqrt(2.0 / g)
impacts = [x.time for x in bounce.events if x.name.startswith("impact")]
assert same(impacts[:4], t_1 * np.array([1.0, 2.0, 2.5, 2.75]), 1e-8)
assert abs(impacts[-1] - 3.0 * t_1) < 1e-5 and abs(bounce.v[-1]).max() < 1e-9
q_floor = [0, 0, 0.1, 1, 0, 0, 0]
rolls = kt.simulate(on_floor(friction=0.2), q_floor, v, duration=1.0, dt=0.02, integrator="event_driven")
assert same(rolls.events[0].time, 2.0 / 7.0 * 5.0 / (0.2 * g), 1e-8) and same(rolls.v[-1, 1], 250.0 / 7.0, 1e-8)
print(len(impacts), "impacts until", round(impacts[-1], 6), "s; rolling begins at", round(rolls.events[0].time, 6), "s")

# %% [markdown]
# ## Soft contact (section 11.8, eq. 11.73-11.79)
#
# A surface that yields is a spring with a damper (figure 11.10). The force never pulls: contact ends where it is zero,
# and the ratio of the speeds follows from the damping ratio z alone, e = exp(-z/s atan2(2 z s, 2 z^2 - 1)).

# %%
b = kt.ModelBuilder("ball", gravity=(0.0, 0.0, 0.0))
shape = kt.model.Geometry("sphere", (0.1,), name="ball")
b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), mass=1.0, geometry=[shape])
hard = b.build().with_contacts(ground=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for z in (0.05, 0.2, 0.5):
    soft = kt.forces.SoftContact.of_contacts(hard, stiffness=1e4, damping=200.0 * z, friction=False)
    fine = kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-12)
    run = kt.simulate(hard.replace(contacts=()).with_forces(*soft), [0.1], [-1.0], duration=0.05, integrator=fine)
    s = np.sqrt(1.0 - z * z)
    assert same(run.v[-1, 0], np.exp(-z / s * np.arctan2(2 * z * s, 2 * z * z - 1)), 1e-7)
    print(f"damping ratio {z}: rebound with {run.v[-1, 0]:.4f} of the speed")
    right.plot(1e3 * run.time, 1e3 * (run.q[:, 0] - 0.1), label=f"z = {z}")
left.plot(bounce.time, bounce.q[:, 2] - 0.1)
left.plot(impacts, np.zeros(len(impacts)), "o", markersize=4)
left.set(xlabel="time [s]", ylabel="height [m]", title="Bounces, e = 0.5 (table 11.1)")
right.set(xlabel="time [ms]", ylabel="height [mm]", title="Soft impact (eq. 11.73)")
right.legend()
plt.show()
