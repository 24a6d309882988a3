"""Chapter 2 as a notebook: spatial vectors, on the arm that comes with kinetree.

You learn to write velocities, forces, inertias and accelerations of rigid bodies as vectors of six, and the few rules
by which they are added, moved and multiplied. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.liegroup.se3 import exp_se3
from kinetree.spatial import Force, Inertia, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.dense import crm
from kinetree.spatial.rotations import rz
from kinetree.spatial.screws import screw

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(2)


def same(x, y):
    return np.allclose(x, y, rtol=1e-12, atol=1e-12)


# %% [markdown]
# ## Velocity (sections 2.2 to 2.5)
#
# The velocity of a body is a *motion*: angular velocity, then the linear velocity of whatever point of the body is at
# the origin. Points elsewhere follow from it, v_P = v_O + w x OP (eq. 2.1). It is one vector: seen from a frame with
# another origin it has other coordinates (example 2.2), but the screw about which the body moves stays where it is.

# %%
v = Motion.of([0.0, 0.0, 2.0, 0.0, -1.0, 0.5])
X = Transform(rz(0.0), Vector3(0.5, 0.0, 0.0))  # to a frame half a meter along x
print("about the origin ", v.array())
print("about (0.5, 0, 0)", (X @ v).array(), "- there the body only climbs and turns")
axis = screw(v)
print(f"screw axis through {np.array(list(axis.point))}, pitch {axis.pitch} m/rad")
assert same((X @ v).array(), [0, 0, 2, 0, 0, 0.5])
assert axis.pitch == 0.25 and screw(X @ v).pitch == 0.25  # h = s . s_O / s . s  (eq. 2.10)
assert same(v.linear.y + 2.0 * 0.5, (X @ v).linear.y)  # eq. 2.1

# %%
x, y = np.meshgrid(np.linspace(-1.0, 2.0, 13), np.linspace(-1.5, 1.5, 13))
field = np.cross(list(v.angular), np.stack([x, y, 0.0 * x], axis=-1)) + np.array(list(v.linear))
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.quiver(x, y, field[..., 0], field[..., 1], color="C0")
ax.plot(*list(axis.point)[:2], "o", color="C3", label="screw axis, along z")
ax.set(xlabel="x [m]", ylabel="y [m]", title="Velocities of the points of the body (eq. 2.1)", aspect="equal")
ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.15))
plt.show()

# %% [markdown]
# ## Forces, and power (sections 2.3 and 2.6)
#
# Forces are vectors of another kind: moment, then force. A motion and a force can be multiplied, which gives the power,
# and that does not depend on coordinates (eq. 2.12-2.13). They cannot be added; the types refuse it.

# %%
f = Force.of(rng.standard_normal(6))
assert same(v.dot(f), (X @ v).dot(X @ f))
try:
    v + f
except TypeError as error:
    print("motion + force:", str(error)[:60], "...")

# %% [markdown]
# ## A chain of bodies (examples 2.3 and 2.5)
#
# Velocities add from body to body. For a real arm the library does this; here is the same sum by hand, with the columns
# of the Jacobian, all in the coordinates of the world: v_i = s_1 q_1' + ... + s_i q_i' (eq. 2.17-2.18).

# %%
arm = kt.load("arm7")
q, qd, qdd = arm.random_q(rng), rng.standard_normal(arm.nv), rng.standard_normal(arm.nv)
J = kt.jacobian(arm, q, frame="flange_link", reference="world")
chain = np.zeros(6)
bias = np.zeros(6)
for i in arm.support(arm.body("flange_link")):  # joints from the base to the flange
    s = J[:, arm.v_slice[i]][:, 0]
    chain = chain + s * qd[arm.v_slice[i]]  # v_i = v_(i-1) + s_i qd_i
    bias = bias + crm(chain) @ s * qd[arm.v_slice[i]]  # s_i' = v_i x s_i  (eq. 2.54)
assert same(chain, kt.velocity(arm, q, qd, frame="flange_link", reference="world"))
a = kt.acceleration(arm, q, qd, qdd, frame="flange_link", reference="world", kind="spatial")
assert same(a, J @ qdd + bias)  # eq. 2.55-2.57
print(np.count_nonzero(J.any(axis=0)), "joints move the flange; their velocities add", bias[:3].round(2), "rad/s^2")

# %% [markdown]
# ## Spatial acceleration is not the reading of an accelerometer (section 2.11)
#
# It is the derivative of the spatial velocity in a fixed frame. A body that turns uniformly about a fixed axis has none
# at all (figure 2.6), although every point of it but those on the axis accelerates. The classical acceleration of a
# point is a = a_O + w x v_O away (eq. 2.47-2.50).

# %%
wheel = kt.models.pendulum().replace(gravity=(0.0, 0.0, 0.0))
state = dict(frame="bob", reference="local")
tip = Transform(rz(0.0), Vector3(0.0, 0.0, -1.0))
spatial = Motion.of(kt.acceleration(wheel, [0.3], [3.0], [0.0], kind="spatial", **state))
velocity = tip @ Motion.of(kt.velocity(wheel, [0.3], [3.0], **state))
at_tip = np.array(list((tip @ spatial).linear)) + np.cross(list(velocity.angular), list(velocity.linear))
print("uniform rotation: spatial acceleration", spatial.array(), ", of the tip", at_tip, "m/s^2, toward the axis")
assert same(spatial.array(), 0.0) and same(at_tip, [0.0, 0.0, 9.0])  # w^2 l

# %% [markdown]
# ## Transforms and their derivative (sections 2.8 to 2.10)
#
# A frame that moves with the constant velocity u for one unit of time is X = exp(-u x) away (section 2.17), and
# dX/dt = -u x X (eq. 2.45). That is why every joint needs only its transform and its velocity.

# %%
u, h = Motion.of(rng.standard_normal(6)), 1e-5
rate = (exp_se3(u * h).matrix() - exp_se3(u * -h).matrix()) / (2 * h)
assert np.allclose(rate, -crm(u.array()), atol=1e-9)

# %% [markdown]
# ## Inertia, and the equation of motion (sections 2.12 to 2.14)
#
# Ten numbers make the inertia of a rigid body; inertias of parts add. With it, f = I a + v x* I v (eq. 2.68) holds in
# any coordinates. At the center of mass it is what Newton and Euler wrote (example 2.6).

# %%
c, I_c, m = Vector3(0.1, -0.2, 0.3), Symmetric3(0.02, 0.0, 0.03, 0.0, 0.0, 0.04), 2.0
body = Inertia.from_com(m, c, I_c)
to_center = Transform(rz(0.0), c)
central = to_center @ body
acceleration = Motion.of(rng.standard_normal(6))
force = body @ acceleration + v.cross(body @ v)
n_C, f_C = ((to_center @ force).angular, (to_center @ force).linear)
w, dw = v.angular, acceleration.angular
euler = I_c @ dw + w.cross(I_c @ w)
newton = ((to_center @ acceleration).linear + w.cross((to_center @ v).linear)) * m  # m times the classical acceleration
assert same(list(n_C), list(euler)) and same(list(f_C), list(newton))
assert same(list(central.h), 0.0) and same(v.dot(body @ v), (to_center @ v).dot(central @ (to_center @ v)))
print(f"kinetic energy {v.dot(body @ v) / 2:.4f} J about any origin; Newton and Euler at the center of mass")
