"""Loops in the planar algebra: against the spatial model of the same mechanism, in planes of any direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from kinetree.constraints import LoopJoint
from kinetree.errors import ModelError
from kinetree.joints import Cylindrical, Planar, Prismatic, Revolute, Spherical
from kinetree.spatial import Transform, Vector3


def tilted(seed: int):
    """A four-bar in a random plane, closed by each of some joints; and a closed state."""
    rng = np.random.default_rng(seed)
    tree = kt.models.four_bar(angle=rng.uniform(0.5, 2.5), gravity=rng.normal(size=3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    b = kt.ModelBuilder("tilted", gravity=rng.normal(size=3))
    for i in tree.outward():
        E, r = np.array(tree.X_T[i].E.matrix.rows), np.array(list(tree.X_T[i].r))
        if tree.parent[i] == 0:
            E, r = E @ turn.T, turn @ r
        parent = tree.body_names[tree.parent[i]]
        m, com = tree.I[i].m, np.array(list(tree.I[i].com))
        b.add_body(
            tree.body_names[i], parent, Revolute(), None, (E.T, r), mass=m, com=com, inertia=rng.uniform(1, 1.5, 3)
        )
    q, _ = tree.keyframe("initial")
    return b, q, rng


JOINTS = {
    "revolute": Revolute(), "prismatic": Prismatic((1, 0, 0)), "spherical": Spherical(),
    "cylindrical": Cylindrical(), "planar": Planar(),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINTS)
def test_planar_rows_are_those_of_the_spatial_model(name):
    """Errors off the closed positions, rows and bias; rows across the plane are left out."""
    b, q, rng = tilted(3)
    along = Transform.shift(Vector3(2.0, 0.3, 0.0))
    model = b.build().with_constraints(
        LoopJoint("loop", JOINTS[name], "coupler", "rocker", along, Transform.shift(Vector3(0.4, 0, 0)))
    )
    flat = model.planar()
    q, v = q + 0.1 * rng.normal(size=3), rng.normal(size=3)
    G = np.array(constraint_jacobian(model, q.tolist()), dtype=float)
    kept = np.flatnonzero(np.abs(G).max(axis=1) > 1e-12)
    assert flat.nc == len(kept)
    for f, arguments in ((constraint_error, [q]), (constraint_jacobian, [q]), (constraint_bias, [q, v])):
        arguments = [x.tolist() for x in arguments]
        ours, theirs = (np.array(f(m, *arguments), dtype=float) for m in (flat, model))
        assert ours.reshape(theirs[kept].shape) == pytest.approx(theirs[kept], abs=1e-13), f.__name__


@pytest.mark.parametrize("seed", range(3))
def test_planar_loops_move_as_spatial_ones(seed):
    """Accelerations compiled, batched and with other offsets of the loop joint; the multipliers carry the same work."""
    model, q, v = kt.models.random_loops(seed, bodies=6, loops=2, family="planar")
    flat = model.planar()
    tau = np.arange(1.0, model.nv + 1)
    a, lam = kt.forward_dynamics(flat, q, v, tau, multipliers=True)
    assert a == pytest.approx(kt.forward_dynamics(model, q, v, tau), rel=1e-9, abs=1e-9)
    f = kt.compile(flat, "forward_dynamics", checks=False)
    assert f(np.stack([q, q]), np.stack([v, v]), tau)[1] == pytest.approx(a, rel=1e-12)
    G = np.array(constraint_jacobian(flat, q.tolist()), dtype=float)
    tree = flat.replace(constraints=())
    assert kt.inverse_dynamics(tree, q, v, a) == pytest.approx(tau + G.T @ lam, rel=1e-8, abs=1e-8)


def test_offsets_are_numbers():
    """A function compiled for one planar loop computes a longer coupler by its parameters."""
    X = Transform.shift(Vector3(2.5, 0.0, 0.0))
    tree = kt.models.four_bar().replace(constraints=())
    model = tree.with_constraints(LoopJoint("loop", Revolute(), "coupler", "rocker_tip", X)).planar()
    q, v = kt.models.four_bar().keyframe("initial")
    f = kt.compile(model, "forward_dynamics", checks=False)
    expected = kt.forward_dynamics(kt.models.four_bar(), q, v, np.zeros(3))
    assert f.with_parameters({"loop.P.x": 3.0})(q, v, np.zeros(3)) == pytest.approx(expected, rel=1e-12)


def test_loops_that_leave_the_plane_are_errors():
    """Frames at two heights."""
    b, _, _ = tilted(0)
    loop = LoopJoint("loop", Revolute(), "coupler", "rocker", Transform.shift(Vector3(0, 0, 0.1)))
    with pytest.raises(ModelError, match=r"row 4 of its loop joint 'loop'.* is across the plane and off by 0\.1 m"):
        b.build().with_constraints(loop).planar()


def test_the_coordinate_of_a_planar_loop_joint_is_the_spatial_one():
    """Value and gradient of its angle and of a travel, on which limits act."""
    b, q, rng = tilted(2)
    v = rng.normal(size=3)
    for joint in (Revolute(), Prismatic((1, 0, 0))):
        model = b.build().with_constraints(LoopJoint("loop", joint, "coupler", "rocker", lower=-9.0, upper=9.0))
        found = []
        for m in (model, model.planar()):
            kin = kt.constraints.Kinematics(m, q.tolist(), v.tolist())
            found.append([kin.coordinate("loop"), kin.rate("loop"), *(kin.row("loop").get(k, 0.0) for k in range(3))])
        assert found[0] == pytest.approx(found[1], abs=1e-13)


def test_springs_dampers_and_friction_in_planar_loop_joints():
    """Joint forces and a motion of half a second are those of the spatial model."""
    bar = kt.models.four_bar()
    model = bar.replace(constraints=[replace(bar.loops[0], stiffness=5.0, damping=0.3, spring_reference=0.2)])
    q, v = kt.assemble(model, model.keyframe("initial")[0], fixed="crank", v=[1.0, 0.0, 0.0])
    flat = model.planar()
    assert kt.dynamics.passive_joint_forces(flat, q, v) == pytest.approx(kt.dynamics.passive_joint_forces(model, q, v))
    assert np.abs(kt.dynamics.passive_joint_forces(flat, q, v)).max() > 0.1
    runs = [kt.simulate(each, q, v, duration=0.5, dt=0.01) for each in (model, flat)]
    assert runs[1].q == pytest.approx(runs[0].q, abs=1e-12) and runs[1].energy == pytest.approx(
        runs[0].energy, abs=1e-9
    )


def test_constraints_are_added_to_planar_models():
    """Of the spatial model: locks, and loops between its frames."""
    flat = kt.models.double_pendulum().planar()
    locked = flat.with_constraints(kt.constraints.Lock("elbow"))
    assert locked.algebra.dimension == 3 and locked.nc == 1
    open_chain = kt.models.four_bar().replace(constraints=()).planar()
    closed = open_chain.with_constraints(LoopJoint("closure", Revolute(), "coupler_tip", "rocker_tip"))
    q, v = closed.keyframe("initial")
    a = kt.forward_dynamics(kt.models.four_bar(), q, v, np.zeros(3))
    assert closed.nc == 2 and kt.forward_dynamics(closed, q, v, np.zeros(3)) == pytest.approx(a, rel=1e-12)
