"""Chapter 8 as a notebook: loops closed by joints, their forces, three methods of solution, and mobility.

You learn where the rows of a loop come from, why planar loops have redundant ones, how errors are kept small, and what
torques move a mechanism. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 8.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.joints import Prismatic, Revolute
from kinetree.spatial.scalar import arctan2, cos, sin, sqrt

plt.style.use(kt.viz.STYLE)
book = kt.textbook
L1, L2 = 0.7, 1.1


def same(x, y):
    return np.allclose(x, y, rtol=1e-9, atol=1e-9)


# %% [markdown]
# ## An excavator's arm (section 8.11, figure 8.3)
#
# Two links, and a cylinder with a piston between the base and the first of them: four tree joints and one loop joint.

# %%
b = kt.ModelBuilder("figure 8.3", gravity=(0.0, -9.81, 0.0))
rod = {"mass": 1.3, "com": (0.4, 0.05, 0.0), "inertia": np.diag([0.02, 0.1, 0.12])}
b.add_body("arm", joint=Revolute(), joint_name="joint1", **rod)
b.add_body("cylinder", joint=Revolute(), joint_name="joint2", placement=((L1, 0, 0), (0, 0, 0)), **rod)
b.add_body("piston", "cylinder", Prismatic((1, 0, 0)), "joint3", **rod)
b.add_body("forearm", "arm", Revolute(), "joint4", placement=((1.4, 0.0, 0.0), (0, 0, 0)), **rod)
b.add_frame("pin", "arm", ((L2, 0.0, 0.0), (0, 0, 0)))
excavator = b.build().with_constraints(LoopJoint("joint5", Revolute(), "pin", "piston"))
assert excavator.nv == 4 and excavator.nc == 5

# %% [markdown]
# ## Its loop in closed form (eq. 8.56-8.60)
#
# The triangle of l1, l2 and d gives all joints from y = (q1, q4). Differentiation of gamma gives G and g.


# %%
def gamma(y):
    s, c = sin(y[0]), cos(y[0])
    return [y[0], arctan2(L2 * s, L2 * c - L1), sqrt(L1 * L1 + L2 * L2 - 2.0 * L1 * L2 * c), y[1]]


y, y_dot, tau = [1.3, -0.7], [0.9, 0.4], [0.3, -0.2, 1.5, 0.8]
closed = book.closure_dynamics(excavator, gamma, y, y_dot, tau)
q, v = closed.q, closed.v
d = q[2]
assert same(closed.G[1, 0], (L2**2 - L1 * L2 * np.cos(y[0])) / d**2)  # u_1 of the figure
print("accelerations of the independent joints:", closed.y_ddot.round(3))

# %% [markdown]
# As a constraint of the model gamma is compiled, and steps are those of y: the others follow, and nothing drifts.

# %%
follow = kt.constraints.ExplicitConstraint(lambda q1: gamma([q1, 0.0])[1:3], ("joint2", "joint3"), "joint1")
explicit = excavator.replace(constraints=()).with_constraints(follow)
assert same(kt.forward_dynamics(explicit, q, v, tau, method="null_space"), closed.a)
run = kt.simulate(explicit, q, v, duration=0.5, dt=0.01)
assert same(run.q[-1], gamma(run.q[-1, [0, 3]]))

# %% [markdown]
# ## Rows and errors (table 8.4, table 8.1)
#
# K v is the loop joint's forbidden velocity, delta its error of position. Three of a hinge's five rows follow from
# others, since all bodies move in one plane; elimination finds which (section 8.8).

# %%
K, k, delta = book.loop_constraints(excavator, q, v)
assert same(K @ v, 0.0) and same(delta, 0.0)
solution = book.solve_constraints(K, k, independent=[0, 3])
assert solution.rank == 2 and same(solution.G, closed.G) and same(solution.g, closed.g)
print("rows used:", solution.rows, "of", excavator.nc, "- the library keeps", excavator.independent_rows())

# %% [markdown]
# ## Three methods (section 8.5)
#
# The whole equation; lambda first; or accelerations in terms of the independent ones. The last column is the force of
# the pin along each row. Where rows are redundant it is not unique, but its effect on the joints is.

# %%
for method in ("kkt", "loop_forces", "null_space"):
    a, force = book.loop_dynamics(excavator, q, v, tau, method=method)
    assert same(a, closed.a)
    print(f"{method:12}", a.round(3), force.round(3))
assert same(kt.forward_dynamics(excavator, q, v, tau), closed.a)
equation = book.maximal_equation(excavator, q, v, tau)  # eq. 8.64: no spanning tree at all
assert same(equation.solve().a, closed.a)
print("maximal coordinates:", equation.matrix.shape, "with", equation.matrix.nnz, "entries")

# %% [markdown]
# ## Errors that decay (section 8.3)
#
# Without stabilization an error of position stays; with T_stab it decays as (1 + t / T) exp(-t / T).

# %%
T, h, gap, history = 0.05, 0.0025, {}, {None: [], 0.05: []}
start = q + 1e-4
for T_stab in (None, T):
    x, w = start.copy(), 0.0 * v
    for _ in range(80):
        half = w + 0.5 * h * book.loop_dynamics(excavator, x, w, tau, T_stab=T_stab).a
        w = w + h * book.loop_dynamics(excavator, x + 0.5 * h * w, half, tau, T_stab=T_stab).a
        x = x + h * half
        history[T_stab].append(np.abs(book.loop_constraints(excavator, x, w).delta).max())
    gap[T_stab] = history[T_stab][-1]
print(f"errors after 4 T: {gap[None]:.1e} without, {gap[T]:.1e} with stabilization")
assert gap[T] < 0.2 * gap[None]

# %%
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
for T_stab, label in ((None, "without stabilization"), (T, "T_stab = 0.05 s")):
    ax.plot(h * np.arange(1, 81), 1e3 * np.array(history[T_stab]), label=label)
ax.set(xlabel="time [s]", ylabel="error of position [mm]", title="The loop's error (section 8.3)", ylim=(0, None))
ax.legend()
plt.show()

# %% [markdown]
# ## Mobility (section 8.10) and torques (section 8.12, example 8.2)
#
# Two freedoms, and as many motors: at joints 3 and 4 they are unique.

# %%
report = kt.closed_loops.mobility(excavator, q)
assert report.mobility == 2 and report.redundancy == 3
a = closed.G @ [2.0, -1.0] + closed.g
torques = kt.inverse_dynamics(excavator, q, v, a, actuated=["joint3", "joint4"])
u_1, u_2 = closed.G[1:3, 0]
tau_tree = kt.rnea(excavator, q, v, a)
assert same(torques[2:], [[1 / u_2, u_1 / u_2, 1, 0] @ tau_tree, tau_tree[3]]) and same(torques[:2], 0.0)
print("piston and elbow:", torques[2:].round(3))
