"""Chapter 10 as a notebook: how many digits survive, and what a result costs.

You learn where digits are lost (far-away origins, ill-conditioned mass matrices), how algorithms are compared by
counting operations, and what symbolic simplification does. Featherstone, Rigid Body Dynamics Algorithms (2008),
chapter 10.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.spatial import Symmetric3, Vector3
from kinetree.spatial.dense import mcI
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower

plt.style.use(kt.viz.STYLE)

# %% [markdown]
# ## A body far from the origin (section 10.1)
#
# A planar body of unit mass at c, described about the origin: I_O a_O = f_O (eq. 10.1; the velocity term vanishes). At
# c = (100, 10) the matrix has a condition number of 1.02e8, and the acceleration loses four of its sixteen digits. In
# body coordinates nothing is lost: that is why algorithms use them.

# %%


def error(cx, cy):
    I_O = mcI(1.0, [cx, cy], 1.0)
    a_O = np.linalg.solve(I_O, [1.0 + cx + cy, -1.0, 1.0])
    at_c = [a_O[0], a_O[1] - cy * a_O[0], a_O[2] + cx * a_O[0]]  # exactly (1, -1, 1)
    return np.linalg.norm(np.subtract(at_c, (1.0, -1.0, 1.0)))


print(mcI(1.0, [100.0, 10.0], 1.0), f"condition {np.linalg.cond(mcI(1.0, [100.0, 10.0], 1.0)):.3g}")
assert np.isclose(np.linalg.cond(mcI(1.0, [100.0, 10.0], 1.0)), 1.0205e8, rtol=1e-3)
turns = np.linspace(0.0, 2.0 * np.pi, 200)
for distance in (0.1, 1.0, 10.0, 100.0, 1000.0):
    worst = max(error(distance * np.cos(t), distance * np.sin(t)) for t in turns)
    print(f"|c| = {distance:6}: error at the center of mass {worst:.0e}")
assert worst > 1e-11  # 1e6 times that near the origin: the square of the distance

# %%
distances = np.logspace(-1, 3, 25)
errors = [max(error(d * np.cos(t), d * np.sin(t)) for t in turns[::4]) for d in distances]
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
ax.loglog(distances, errors, "o-", label="error")
ax.loglog(distances, 1e-16 * distances**2, "--", color="0.5", label="rounding times the distance squared")
ax.set(xlabel="distance of the center of mass [m]", ylabel="error [m/s$^2$]")
ax.set_title("A body far from the origin (section 10.1)")
ax.legend()
plt.show()

# %% [markdown]
# ## A zigzag arm (section 10.2)
#
# Six equal links, angles of +75 and -75 degrees in turn. The joint forces for unit accelerations, rounded to three
# digits, are off by less than half a percent; the accelerations that they cause by up to 41 percent. (The book prints
# 0.6952 for the first; the digits are swapped.)

# %%
arm, q, zero = kt.models.zigzag_arm(6), np.deg2rad([75.0, -75.0] * 3), np.zeros(6)
desired = kt.rnea(arm, q, zero, np.ones(6))
rounded = np.array([126.0, 97.5, 70.0, 43.8, 21.9, 6.16])
actual = kt.aba(arm, q, zero, rounded)
print("desired forces", desired.round(4), "\nrounded       ", rounded, "\naccelerations ", actual.round(4))
assert np.allclose(desired, [126.4936, 97.4663, 69.9762, 43.7998, 21.9371, 6.1646], rtol=0, atol=1e-4)
assert np.allclose(actual, [0.6592, 1.3654, 1.3808, 0.5894, 0.9057, 1.0705], rtol=0, atol=5e-5)
assert np.isclose(np.linalg.cond(kt.crba(arm, q)), 725.3876, atol=5e-5)

# %% [markdown]
# The condition number of the mass matrix of n equal links grows like 4 n^4: 5184 and 40000 for 6 and 10. Branches keep
# it down. `kt.accuracy` reports it for any robot, with the digits that are left.

# %%
for n in (6, 10, 20):
    print(f"{n:3} links, straight: condition {np.linalg.cond(kt.crba(kt.models.zigzag_arm(n), np.zeros(n))):.0f}")
assert round(np.linalg.cond(kt.crba(kt.models.zigzag_arm(10), np.zeros(10)))) == 43523
report = kt.accuracy(arm, q, zero, np.ones(6))
print(f"kt.accuracy: condition {report.condition.value:.1f}, worst at {report.condition.joint}")
assert np.isclose(report.condition.value, 725.3876, atol=5e-5)

# %% [markdown]
# ## Counting operations (section 10.3)
#
# The best rows of table 10.1 for a general chain of n revolute joints, products plus sums. The mass-matrix method
# (rnea + crba + factorize and solve) is cheaper than articulated bodies up to eight joints; at 18 it costs 1.64 times
# as much (figure 10.4).


# %%
def published(n):
    rnea, crba = (93 * n - 108) + (81 * n - 100), (10 * n * n + 22 * n - 32) + (6 * n * n + 37 * n - 43)
    solve = (n**3 + 9 * n**2 - 4 * n) // 6 + (n**3 + 6 * n**2 - 7 * n) // 6
    return rnea + crba + solve, (224 * n - 259) + (205 * n - 248)


for n in (6, 8, 9, 18):
    cubic, linear = published(n)
    print(f"n = {n:2}: by the mass matrix {cubic:5}, articulated bodies {linear:5}, ratio {cubic / linear:.2f}")
assert published(8) == (2921, 2925) and published(9) == (3539, 3354)
assert round(published(18)[0] / published(18)[1], 2) == 1.64

# %% [markdown]
# kinetree counts what it compiled, for your robot. Branches make the mass matrix cheap: for a binary tree of 15 bodies
# the whole computation by M costs less than articulated bodies (figure 10.5).

# %%
for name in ("rnea", "crba", "aba", "forward_dynamics_crba"):
    counts = [kt.compile(model, name).operations.total for model in (kt.models.chain_gu(6), kt.models.binary_tree(4))]
    print(f"{name:>22}: chain of 6 {counts[0]:5}, binary tree of 15 {counts[1]:5}")
by_mass_matrix, articulated = counts[1], kt.compile(kt.models.binary_tree(4), "aba").operations.total
assert by_mass_matrix < articulated <= 5928  # the best published count of aba for this tree

# %% [markdown]
# ## Symbolic simplification (section 10.4, table 10.3)
#
# p = v x I v and tau = p . s take 29 operations. With I = diag(1.5, 1.6, 1.7) and s = (0, 0, 1) known, a few rules
# leave 5 of them; factoring leaves the optimum, tau = 0.1 v1 v2. This is how every kinetree function is made.

# %%
graph = Graph()
v = Vector3(*(graph.input(0, k) for k in range(3)))
tau = v.cross(Symmetric3(1.5, 0.0, 1.6, 0.0, 0.0, 1.7) @ v).dot(Vector3(0.0, 0.0, 1.0))
program = lower(graph, [("v", (3,))], [("tau", (), tau)])
print("29 operations become", program.operations.total)
assert program.operations.multiplications == program.operations.total == 2
assert np.isclose(program.interpret([[0.3, -0.7, 0.2]])[0], 0.1 * 0.3 * -0.7)
