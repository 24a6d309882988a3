"""Maximal coordinates as a notebook: bodies that move freely, and joints as rows of a linear system.

You learn to write the equations of motion of single bodies, to join them by constraints, to read the forces in all
joints, and to keep positions from drifting. Sueda, Rigid Body Dynamics Notes, chapter 1.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.joints import Revolute
from kinetree.liegroup.se3 import exp_se3, log_se3
from kinetree.maximal_coordinates import Body, System
from kinetree.spatial import Motion

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(1)


def same(x, y, tolerance=1e-9):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance)


# %% [markdown]
# ## Poses and twists (sections 1.1 to 1.3, eq. 1.1-1.20)
#
# A pose E is an element of SE(3). Its rate is E [phi], where phi = (omega; nu) is the twist in body coordinates. So a
# body that moves with a constant twist for a time h goes from E to E exp(h [phi]) (eq. 1.8-1.11).

# %%
stone = Body("stone", 2.0, inertia=(0.3, 0.5, 0.4))
free = System([stone], gravity=(0.0, 0.0, 0.0))
phi, h = np.array([0.3, -0.2, 0.9, 1.0, 0.5, -0.4]), 0.7
moved = kt.integrate(free.model, free.start, h * phi)
X = exp_se3(Motion.of(h * phi))  # a coordinate transform: its position is that of the moved frame
assert same(moved[:3], list(X.r)) and same(log_se3(X).array(), h * phi)
print("after 0.7 s the stone is at", moved[:3].round(4), "m")

# %% [markdown]
# ## The Newton-Euler equations (sections 1.6 to 1.8, eq. 1.21-1.29)
#
# M dphi/dt = [coriolis] + forces, where M = diag(I, m 1) is constant in body coordinates. A free body keeps its
# momentum in world coordinates; steps of semi-implicit Euler keep it to first order.

# %%
equation = free.equation(free.start, phi)
omega, nu, I = phi[:3], phi[3:], np.diag([0.3, 0.5, 0.4])
assert same(equation.M.toarray(), np.diag([0.3, 0.5, 0.4, 2.0, 2.0, 2.0]))
assert same(equation.f, np.r_[-np.cross(omega, I @ omega), -2.0 * np.cross(omega, nu)])
error = []
for steps in (50, 100):
    q, v = free.start, phi
    for _ in range(steps):
        q, v, *_ = free.step(q, v, dt=1.0 / steps)
    momentum = kt.momentum(free.model, q, v)
    error.append(np.abs(momentum - kt.momentum(free.model, free.start, phi)).max())
print(f"momentum is off by {error[0]:.1e} with 50 steps, by {error[1]:.1e} with 100")
assert 1.8 < error[0] / error[1] < 2.2

# %% [markdown]
# ## Joints as rows (section 1.10, eq. 1.69-1.74)
#
# A hinge forbids five of the six relative velocities: G Phi = 0. Two rods make twelve velocities and ten rows. The KKT
# system gives accelerations and multipliers, and with these the wrench in each joint.

# %%
UP, DOWN, HINGE = ((0, 0, 1), (0, 0, 0)), ((0, 0, -1), (0, 0, 0)), Revolute((0, 1, 0))
m, J, g = 3.0, 1.0, 9.81
rods = [Body(name, m, inertia=(J, J, 0.01), pose=((0, 0, z), (0, 0, 0))) for name, z in (("upper", -1), ("lower", -3))]
joints = [
    LoopJoint("shoulder", HINGE, "world", "upper", X_S=UP),
    LoopJoint("elbow", HINGE, "upper", "lower", X_P=DOWN, X_S=UP),
]
system = System(rods, joints)
e = system.equation(system.start, np.zeros(12))
found = system.accelerations(system.start, np.zeros(12), tau=[1.0, 0.0])
G = e.G.toarray()
KKT = np.block([[e.M.toarray(), G.T], [G, np.zeros((10, 10))]])
solved = np.linalg.solve(KKT, np.r_[e.f + [0, 1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], e.bias])  # 1 N m on the upper rod
assert same(found.accelerations.ravel(), solved[:12]) and same(found.multipliers, -solved[12:])
assert same(found.wrenches[:, 5], [2 * m * g, m * g])
print("the hinges carry", found.wrenches[:, 5].round(3), "N")

# %% [markdown]
# ## The same as in joint coordinates (section 1.10)
#
# `kt.maximal` makes the system of a model. Its accelerations, as those of the joints, are what the articulated-body
# algorithm finds, and its multipliers the wrenches of the recursive Newton-Euler algorithm.

# %%
tree = kt.models.double_pendulum()
bodies = kt.maximal(tree)
q, v, tau = np.array([0.9, -0.4]), np.array([1.0, 2.0]), np.array([0.1, 0.2])
state = bodies.state(q, v)
found = bodies.accelerations(*state, tau=tau)
a = bodies.reduced_accelerations(*state, found.accelerations)
with kt.interpreted():
    assert same(a, kt.forward_dynamics(tree, q, v, tau))
    assert same(found.wrenches, kt.dynamics.joint_wrenches(tree, q, v, a, reference="local")[1:])
print("joint accelerations", a.round(4), "rad/s^2")

# %% [markdown]
# ## Springs, stiff ones too (sections 1.8 and 1.9, eq. 1.30-1.37)
#
# The linearly implicit step solves (M + h D + h^2 K) Phi+ = M Phi + h (f + D Phi). It is stable for a spring of
# 1e9 N/m, where the explicit step multiplies errors in each step.

# %%
hook = {"hook": ((0.5, 0, 0), (0, 0, 0))}
for slopes in (None, "gauss_newton"):
    spring = kt.forces.PointSpring("spring", "upper", "hook", 1e9, 0.9, 0.1)
    loaded = System(rods[:1], joints[:1], forces=[spring], frames=hook)
    q, v = loaded.start, np.array([0.0, 0.1, 0.0, -0.1, 0.0, 0.0])
    for _ in range(8):
        q, v, *_ = loaded.step(q, v, dt=0.01, **({"slopes": slopes} if slopes else {}))
    print("explicit" if slopes is None else "implicit", f"after 8 steps: {np.abs(v).max():.1e} rad/s")
    assert (np.abs(v).max() > 1e3) == (slopes is None)

# %% [markdown]
# ## Drift and its remedies (sections 1.10 and 1.12, eq. 1.82)
#
# Rows hold velocities, so positions drift. Baumgarte's stabilization adds the error of position to the rows;
# post-stabilization closes positions after each step.

# %%
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
dt, final = 0.02, {}
remedies = {"none": {}, "Baumgarte": {"baumgarte": 25.0}, "closed after each step": {"stabilize": True}}
for name, options in remedies.items():
    q, v = bodies.state([1.0, 0.5], [0.0, 0.0])
    gap = []
    for _ in range(200):
        q, v, *_ = bodies.step(q, v, dt=dt, **options)
        gap.append(np.abs(bodies.equation(q, v).phi).max())
    final[name] = max(gap)
    ax.semilogy(dt * np.arange(1, 201), 1e3 * np.array(gap), label=name)
ax.set(xlabel="time [s]", ylabel="error of position [mm]", title="Joints that open (section 1.12)")
ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.25))
plt.show()
assert 100.0 * final["closed after each step"] < final["Baumgarte"] < 0.2 * final["none"]
