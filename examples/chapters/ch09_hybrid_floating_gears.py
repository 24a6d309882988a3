"""Chapter 9 as a notebook: prescribed motions, floating bases, gears, and regroupable inertias.

You learn to mix known forces with known accelerations, to let a base recoil, to put motors with gears into a robot, and
which inertial parameters matter at all. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 9.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from kinetree.surgery import augmented_bodies, base_parameter_count, simplify_inertias

plt.style.use(kt.viz.STYLE)
rng = np.random.default_rng(9)


def same(x, y):
    return np.allclose(x, y, rtol=1e-9, atol=1e-9)


# %% [markdown]
# ## Hybrid dynamics (sections 9.1 and 9.2)
#
# At some joints the force is known, at the others the acceleration. The permuted equation of motion (eq. 9.1-9.3) gives
# what the rest is; articulated bodies (tables 9.2 and 9.3) find it in one sweep, and so does Kim's recursion.

# %%
arm = kt.load("arm7")
q, (v, tau, qdd) = arm.random_q(rng), rng.standard_normal((3, arm.nv))
forward = ("shoulder_yaw", "elbow_pitch", "wrist_roll")
one = [arm.v_index(name).start for name in forward]  # force known
two = [k for k in range(arm.nv) if k not in one]  # acceleration known
H, C = kt.crba(arm, q), kt.bias_forces(arm, q, v)
first = np.linalg.solve(H[np.ix_(one, one)], tau[one] - H[np.ix_(one, two)] @ qdd[two] - C[one])  # eq. 9.2
second = H[np.ix_(two, one)] @ first + H[np.ix_(two, two)] @ qdd[two] + C[two]
for hybrid in (kt.dynamics.hybrid_aba, kt.dynamics.hybrid_crba, kt.textbook.hybrid_recursive):
    a_all, tau_all = hybrid(arm, q, v, tau, qdd, forward=forward)
    assert same(a_all[one], first) and same(tau_all[two], second)
print("forces at the driven joints:", second.round(2))
assert same(kt.dynamics.crba_restricted(arm, q, forward=forward)[np.ix_(one, one)], H[np.ix_(one, one)])  # table 9.1

# %% [markdown]
# ## Floating bases (sections 9.3 to 9.5)
#
# A satellite with a dish: the base's own equation has no force on its right-hand side (eq. 9.13), so the base recoils.
# Forward dynamics is an articulated-body sweep down to the base (table 9.4). In inverse dynamics the acceleration of
# the base comes out as well (table 9.6).

# %%
satellite = kt.models.satellite()
q, v = satellite.random_q(rng), 0.3 * rng.standard_normal(satellite.nv)
tau_dish = np.array([2.0, -1.0])
eq = kt.floating_base.coefficients(satellite, q, v)
whole = np.block([[eq.I0c, eq.F], [eq.F.T, eq.H]])
solved = np.linalg.solve(whole, np.r_[-eq.p0c, tau_dish - eq.C])
found = kt.floating_base.forward_dynamics(satellite, q, v, tau_dish)
assert same(np.r_[found.a_base, found.a_joints], solved)
assert same(kt.aba(satellite, q, v, np.r_[np.zeros(6), tau_dish]), solved)
back = kt.floating_base.inverse_dynamics(satellite, q, v, found.a_joints)
assert same(back.tau_joints, tau_dish) and same(back.a_base, found.a_base)
print("the dish gets 2 and -1 N m; the acceleration of the hull is", found.a_base[:3].round(5), "rad/s^2")

# %% [markdown]
# Without the base's rows the equation is H_fl qdd + C_fl = tau (example 9.2). Momentum is I0c v0 + F qd (example 9.3),
# and without external forces it stays what it is: that is why the hull must turn when the dish does. The Jacobian of
# example 9.4 has the recoil in it.

# %%
reduced = kt.floating_base.reduced_coefficients(satellite, q, v)
assert same(np.linalg.solve(reduced.H_fl, tau_dish - reduced.C_fl), found.a_joints)
turn = np.array([0.5, 0.2])  # joint velocities, in free fall without momentum
recoil = -np.linalg.solve(eq.I0c, eq.F @ turn)
assert same(kt.momentum(satellite, q, np.r_[recoil, turn]), 0.0)
J = kt.floating_base.jacobian(satellite, q, frame="dish", reference="local")
dish = kt.velocity(satellite, q, np.r_[recoil, turn], frame="dish", reference="local")
assert same(J @ turn, dish)
print("turned with", turn, "rad/s, the dish really turns with", dish[:3].round(4), "rad/s")

# %% [markdown]
# ## Gears (section 9.6)
#
# Figure 9.2: two links, each with a rotor that turns rho times as fast. As four bodies with two couplings, G^T H G is
# eq. 9.27; with all of H's zeros used it takes 5 products and 3 sums, and as full matrices 44 and 33. kinetree also
# takes rotors as data on the model. Only the armature, rho^2 J on the diagonal (example 9.5), leaves something out.

# %%
rho, J_rotor = np.array([40.0, -60.0]), np.array([3e-4, 2e-4])


def two_links(gears):
    b, parent = kt.ModelBuilder(gears), "world"
    for k, link in enumerate(("upper", "fore")):
        at, place = ((0.5 * k, 0, 0), (0, 0, 0)), ((0.1 * k, 0.03, 0), (0, 0, 0))
        b.add_body(link, parent, Revolute((0, 1, 0)), link, at, mass=3.0 - k, com=(0.25, 0, 0), inertia=[0.08] * 3)
        if gears == "bodies":
            b.add_body(f"rotor{k}", parent, Revolute((0, 1, 0)), f"motor{k}", place, mass=0.5, inertia=[J_rotor[k]] * 3)
            b.add_coupling(f"motor{k}", link, rho[k])
        elif gears == "rotors":
            b.add_rotor(f"rotor{k}", link, rho[k], J_rotor[k], axis=(0, 1, 0), center=place[0], mass=0.5,
                        transverse_inertia=J_rotor[k])  # fmt: skip
        parent = link
    return b.build()


explicit, data = two_links("bodies"), two_links("rotors")
x, G = np.array([0.3, -0.8]), np.array([[1, 0], [rho[0], 0], [0, 1], [0, rho[1]]])
H = kt.crba(explicit, G @ x)
assert explicit.parent[1:] == (0, 0, 1, 1) and H[0, 1] == H[1, 2] == H[1, 3] == H[2, 3] == 0.0
projected = G.T @ H @ G
assert np.isclose(projected[0, 1], H[0, 2] + rho[1] * H[0, 3]) and same(kt.crba(data, x), projected)
armature = kt.crba(two_links("none").replace(armature=rho**2 * J_rotor), x)
print("mass matrix with rotors", projected.round(4).tolist(), ", with armatures", armature.round(4).tolist())

# %%
bent = np.stack([np.zeros(100), np.linspace(-np.pi, np.pi, 100)], axis=1)
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
for model, label in ((data, "rotors"), (two_links("none").replace(armature=rho**2 * J_rotor), "armatures alone")):
    ax.plot(np.degrees(bent[:, 1]), kt.crba(model, bent)[:, 0, 1], label=label)
ax.set(xlabel="second angle [deg]", ylabel="$H_{12}$ [kg m$^2$]")
ax.set_title("Coupling inertia of a geared arm (section 9.6)")
ax.legend()
plt.show()

# %% [markdown]
# ## Regroupable inertial parameters (section 9.7)
#
# A particle on the axis of a hinge may be on either side of it. Moving such parameters to the parent
# (table 9.7: 3 parameters for a revolute joint, 6 for a prismatic, 1 for a spherical one) makes zeros.
# What is left are the base parameters: 7, 4 and 9 for each body.

# %%
general = kt.models.chain_gu(6)
simple, report = simplify_inertias(general)
q, v, a = 0.5 * rng.standard_normal((3, 6))
assert same(kt.rnea(simple, q, v, a), kt.rnea(general, q, v, a)) and same(kt.crba(simple, q), kt.crba(general, q))
print(f"GU(6): {report.zeros_before} zero parameters become {report.zeros_after}")
chains = {24: (Revolute(), Revolute()), 26: (Spherical(), Revolute()), 23: (Prismatic(), Spherical())}
for count, joints in chains.items():
    b, parent = kt.ModelBuilder("floating"), "world"
    for k, joint in enumerate((Free(), *joints)):
        b.add_body(f"b{k}", parent, joint, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
        parent = f"b{k}"
    assert base_parameter_count(b.build()) == count
balls = kt.models.random_tree(5, 1, joints=[Spherical()], floating=True, armature=False)
assert same([I.m for I in augmented_bodies(balls)[1:]], balls.total_mass)
