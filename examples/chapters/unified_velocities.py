"""Unified velocities as a notebook: the motion of a body by six velocities of its points.

You learn to describe a twist by six velocities of one unit, to write the equation of motion in them, and to integrate
it on the Lie group. Holzinger, Gerstmayr and Schoeberl, non-redundant unified local velocity coordinates.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import FreeUnified, Projection
from kinetree.liegroup import se3, unified_rk4_step
from kinetree.spatial import Force, Inertia, Motion, Symmetric3, Transform, Vector3

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(5)


def same(x, y, tolerance=1e-12):
    return np.allclose(x, y, rtol=tolerance, atol=tolerance)


# %% [markdown]
# ## Six velocities of points (section 3.1, eq. 18-27)
#
# w_i = b_i . v(y_i), along directions b_i at points y_i fixed in the body. With the faces of a cube, or the edges of a
# regular tetrahedron, D in w = D V is orthogonal; all six numbers have the same unit.

# %%
cube, tetrahedron = Projection.hexahedral(), Projection.tetrahedral()
V = Motion.of([0.01, 0.0, 100.0, 0.0, 0.0, 0.0])  # angular, linear
w = cube.coordinates(V)
print("the spin about z as six velocities:", np.round(w, 4), "m/s")
assert same(w, np.array([100, 100, 0.01, 0.01, 0, 0]) / np.sqrt(2)) and same(cube.twist(w).array(), V.array())
for projection in (cube, tetrahedron):
    assert same(projection.D @ projection.D.T, np.eye(6))
y = Vector3(0.2, -0.1, 0.4)
assert same(cube.velocity_at(w, y).array(), np.cross([0.01, 0.0, 100.0], list(y)))  # eq. 26

# %% [markdown]
# Not any six velocities will do: three through one point and three through another see no turn about their line.

# %%
x_axis, y_axis, z_axis = np.eye(3).tolist()
try:
    Projection([x_axis, y_axis, z_axis] * 2, [(0, 0, 0)] * 3 + [(0, 0, 1)] * 3)
except kt.errors.KinetreeError as error:
    assert error.rank == 5
    print("refused: rank", error.rank)

# %% [markdown]
# ## Equations of motion (sections 3.2 to 3.4, eq. 41-53)
#
# M dw/dt + Gamma(w) w = Q. Gamma is skew, so it does no work; a force at a point y is Q = N(y)^T f. The rates are those
# of Newton and Euler, in other coordinates (section 4.3).

# %%
inertia = Inertia.from_com(1.0, Vector3(0.1, 0.0, 0.0), Symmetric3.diagonal(0.4, 0.5, 0.6))
V = Motion.of(rng.standard_normal(6))
w, f = cube.coordinates(V), Force.at_point(Vector3(0.3, 0.2, -9.81), y)
Q = cube.generalized_force(f)
M, Gamma = np.array(cube.mass_matrix(inertia)), np.array(cube.velocity_matrix(inertia, w))
rate = np.array(cube.acceleration(inertia, w, Q))
assert same(Gamma, -Gamma.T) and same(M @ rate + Gamma @ w, Q)
newton_euler = np.linalg.solve(inertia.matrix(), (f - V.cross(inertia @ V)).array())
assert same(cube.D @ newton_euler, rate, 1e-10) and same(np.dot(Q, w), V.dot(f))
print("rates of the six velocities:", rate.round(3), "m/s^2")

# %% [markdown]
# ## Steps on the group (section 5, eq. 11 and 82-87)
#
# Runge-Kutta steps on SE(3): increments are twists n, and T^-1(n) turns velocities into rates of increments. One step
# after the other the rotation stays a rotation; nothing is normalized.

# %%
n = Motion.of([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
assert same(se3.right_jacobian_apply(n, se3.right_jacobian_solve(n, V)).array(), V.array())
MOMENTS = (5.2988, 1.1775, 4.3568)
w0 = cube.coordinates(Motion.of([0.01, 0.0, 100.0, 0.0, 0.0, 0.0]))
body = Inertia.from_com(1.0, Vector3.zero(), Symmetric3.diagonal(*MOMENTS))
X, w1 = Transform.identity(), w0
for _ in range(20):
    X, w1 = unified_rk4_step(cube, body, 1.0 / 2560, X, w1)
print("determinant of R, less 1:", f"{np.linalg.det(np.array(X.E.matrix.rows)) - 1.0:.0e}")
assert abs(np.linalg.det(np.array(X.E.matrix.rows)) - 1.0) < 1e-13

# %% [markdown]
# ## A box that flips, and the order of the method (section 6)
#
# As a joint of a model, `FreeUnified` makes the same steps, compiled. The box spins about the axis of its intermediate
# moment. Angular velocities after 1 s are known by Jacobi's elliptic functions.

# %%
EXACT = (5.86216283263292, 6.76901143915564, -99.72873950308943)
b = kt.ModelBuilder("box", gravity=(0.0, 0.0, 0.0))
b.add_body("box", joint=FreeUnified(cube), mass=1.0, inertia=MOMENTS)
box = b.build()
steps, errors = np.array([320, 640, 1280, 2560]), []
for count in steps:
    path, rates = kt.rollout(
        box, box.neutral(), w0, None, 1.0 / count, steps=int(count), integrator="rk4", record=kt.Record(every=1)
    )
    errors.append(np.linalg.norm((cube.D_inverse @ rates[-1])[:3] - EXACT))
orders = np.log2(np.divide(errors[:-1], errors[1:]))
print("errors", ", ".join(f"{x:.1e}" for x in errors), "rad/s; orders", orders.round(2))
assert np.all(np.abs(orders[:2] - 4.0) < 0.2)
assert same(w1, rates[20], 1e-11)  # the steps by hand

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for k, values in enumerate((rates @ cube.D_inverse.T)[:, :3].T):
    left.plot(np.arange(len(values)) / 2560, values, label=f"$\\Omega_{k + 1}$")
left.set(xlabel="time [s]", ylabel="angular velocity [rad/s]", title="A box that flips (section 6)")
left.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.25))
right.loglog(1.0 / steps, errors, "o-", label="error after 1 s")
right.loglog(1.0 / steps, errors[1] * (steps[1] / steps) ** 4, ":", label="order 4")
right.set(xlabel="step [s]", ylabel="error [rad/s]", title="Convergence (section 5.3)")
right.set_xticks(1.0 / steps, [f"1/{count}" for count in steps])
right.minorticks_off()
right.legend()
plt.show()
assert same(0.5 * rates[-1] @ np.array(cube.mass_matrix(body)) @ rates[-1], 0.5 * 4.3568e4 + 0.5 * 5.2988e-4, 1e-6)
