"""Chapter 4 as a notebook: how a mechanism is described, from the graph of its bodies to the models of its joints.

You learn connectivity graphs, regular numberings and the sets they define, where joints sit, Denavit-Hartenberg
parameters, and what a joint model holds. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 4.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import Helical, Planar, RackAndPinion, Reversed, Spherical, SphericalEuler
from kinetree.model.topology import expanded_parent

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(4)


def columns(motions):
    return np.array([m.array() for m in motions], dtype=float).T


# %% [markdown]
# ## Bodies are nodes, joints are arcs (section 4.1)
#
# The crank-slider has three moving bodies and four joints, so one of the joints closes a loop (eq. 4.1). Which one is
# free to choose: four spanning trees, and eight regular numberings, in which every body comes after its parent
# (figure 4.4).

# %%
crank_slider = kt.model.MechanismGraph([
    ("crank_pivot", "world", "crank"), ("crank_pin", "crank", "rod"),
    ("wrist_pin", "rod", "slider"), ("guide", "world", "slider"),
])  # fmt: skip
print("loops", crank_slider.n_loops, ", trees", crank_slider.count_spanning_trees(), ", numberings:")
for tree in crank_slider.spanning_trees():
    print("  chord", tree.chords[0], [numbering.parent[1:] for numbering in tree.numberings()])
assert sorted(tree.count_numberings() for tree in crank_slider.spanning_trees()) == [1, 1, 3, 3]

# %% [markdown]
# ## Sets of the tree of figure 4.6 (section 4.1.4)
#
# kappa(i) are the joints that support body i, mu(i) its children, nu(i) all bodies beyond joint i. Summing over i and
# kappa(i) is summing over j and nu(j) (eq. 4.3).

# %%
parents = [0, 1, 1, 0, 3, 4, 4, 4]  # lambda(1) to lambda(8)
arcs = [(f"J{i}", "world" if p == 0 else f"B{p}", f"B{i}") for i, p in enumerate(parents, start=1)]
figure = kt.model.MechanismGraph(arcs).spanning_tree().numbering()
order = [int(name[1:]) if name != "world" else 0 for name in figure.bodies]
kappa = {order[i]: {order[j] for j in figure.support(i)} for i in range(9)}
nu = {order[i]: {order[j] for j in figure.subtree(i)} for i in range(9)}
print("kappa(3) =", kappa[3], ", kappa(8) =", kappa[8], ", nu(1) =", nu[1])
assert kappa[3] == {1, 3} and kappa[8] == {4, 8} and nu[1] == {1, 2, 3, 5} and nu[8] == {8}
assert {(i, j) for i in range(1, 9) for j in kappa[i]} == {(i, j) for j in range(1, 9) for i in nu[j]}

# %% [markdown]
# A joint of several freedoms counts as so many bodies in a row, for the zeros of the mass matrix (table 6.4).

# %%
expanded, _ = expanded_parent((-1, 0, 1, 1, 2, 2, 3), (0, 1, 3, 1, 1, 1, 1))
print("expanded parents", expanded[1:])
assert tuple(expanded[1:]) == (0, 1, 2, 3, 1, 4, 4, 5)

# %% [markdown]
# ## Where everything is (examples 4.3 and 4.4, section 4.3)
#
# i_X_0 = X_J X_T(i) lambda(i)_X_0 from the base outward, and velocities with them. For an arm with one joint after
# the other, 4n + 6 numbers describe the placement of the joints.

# %%
puma = kt.models.puma_like()
q, qd = puma.random_q(rng), rng.standard_normal(puma.nv)
X_0, v_0 = [kt.spatial.Transform.identity()], [np.zeros(6)]
for i in puma.outward():
    X_0.append(puma.joints[i].transform([q[i - 1]]) @ puma.X_T[i] @ X_0[puma.parent[i]])
    step = X_0[i].inverse_apply(puma.joints[i].velocity([q[i - 1]], [qd[i - 1]]))  # X^-1 v without an inverse
    v_0.append(v_0[puma.parent[i]] + step.array())
assert np.allclose(list(X_0[6].r), kt.forward_kinematics(puma, q).p_WB[6], atol=1e-14)
assert np.allclose(v_0[6], kt.kinematics.body_velocities(puma, q, qd, reference="world")[6], atol=1e-13)
table = kt.io.to_dh(puma, "modified")
assert table.n_parameters == 4 * 6 + 6 and np.allclose([row.a for row in table.rows], [0, 0, 0.4318, 0.0203, 0, 0])
print(table)

# %% [markdown]
# ## Joint models (section 4.4)
#
# A joint is a transform, the motions S it allows and their apparent derivative. A screw (table 4.1) and a rack and
# pinion (example 4.6), whose S turns with the pinion:

# %%
print("helical, pitch 0.1:", columns(Helical(pitch=0.1).motion_subspace([0.7]))[:, 0])
rack, angle, rate, r = RackAndPinion(0.25), 0.7, 1.5, 0.25
c, s = np.cos(angle), np.sin(angle)
assert np.allclose(columns(rack.motion_subspace([angle]))[:, 0], [0, 0, 1, r * c, -r * s, 0])
assert np.allclose(rack.bias([angle], [rate]).array(), [0, 0, 0, -r * s * rate**2, -r * c * rate**2, 0])

# %% [markdown]
# Seen from the other body, a joint has X^-1 and -X^-1 S (table 4.2). For a rack that is another mechanism.

# %%
back = Reversed(rack)
X = back.transform([angle]).matrix()
assert np.allclose(X @ rack.transform([angle]).matrix(), np.eye(6))
assert np.allclose(columns(back.motion_subspace([angle])), -X @ columns(rack.motion_subspace([angle])))

# %% [markdown]
# Position variables need not be the integrals of velocity variables. In example 4.5 the positions of a planar joint are
# along the axes of the predecessor and its velocities along those of the successor. The book's rate matrix has
# (1, -q3, q2) in its first column; that does not go with a constant S, and is (1, 0, 0).

# %%
position, alpha = [0.6, 2.0, -1.0], np.array([0.5, 1.0, 3.0])
c, s = np.cos(0.6), np.sin(0.6)
assert np.allclose(Planar().q_dot(position, alpha), np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ alpha)

# %% [markdown]
# ## Turning in space (section 4.5)
#
# Three angles are singular somewhere: yaw, pitch and roll where the pitch is 90 degrees, det S = -cos q2. Four Euler
# parameters are not, but must keep their length: E(s p) = s^2 E(p) + (1 - s^2) 1 scales the part beyond the joint.

# %%
ypr = SphericalEuler("zyx")
for pitch in (0.0, 1.0, np.pi / 2):
    S = columns(ypr.motion_subspace([0.3, pitch, 0.2]))[:3]
    print(f"pitch {pitch:.2f}: det S = {np.linalg.det(S):+.3f}")
    assert np.isclose(np.linalg.det(S), -np.cos(pitch), atol=1e-15)

# %%
angles = np.linspace(-np.pi, np.pi, 121)
turns = [columns(ypr.motion_subspace([0.3, pitch, 0.2]))[:3] for pitch in angles]
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.semilogy(np.degrees(angles), [np.linalg.cond(S) for S in turns])
ax.set(xlabel="pitch [deg]", ylabel="condition of S", ylim=(1, 1e3), xticks=range(-180, 181, 90))
ax.set_title("Yaw, pitch and roll at 90 degrees (section 4.5)")
plt.show()

p = np.array(Spherical().random(rng))
E, stretched = (Spherical().transform(list(k * p)).matrix()[:3, :3] for k in (1.0, 1.1))
print("a quaternion too long by a tenth: E off by", np.abs(stretched - E).max().round(3))
assert np.allclose(stretched, 1.21 * E - 0.21 * np.eye(3))
