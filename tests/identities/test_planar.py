"""Planar mechanisms: the same algorithms on the planar algebra give what they give on the spatial one."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.aba import aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.energy import kinetic_energy
from kinetree.algorithms.rnea import bias_forces, rnea
from kinetree.joints import Planar, Prismatic, Revolute
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from tests.identities.systems import close


def mechanism(seed: int):
    """A random tree in the x-y plane: hinges, slides and planar joints, bodies in parallel planes, gravity along y."""
    rng = np.random.default_rng(seed)
    b = kt.ModelBuilder("planar")
    b.gravity = (0.0, -9.81, 0.0)
    names = ["world"]
    for k in range(7):
        slide = rng.uniform(-np.pi, np.pi)
        joint = (Revolute((0, 0, 1)), Prismatic((np.cos(slide), np.sin(slide), 0)), Planar())[k % 3]
        moments = np.diag(rng.uniform(0.5, 0.9, 3))
        b.add_body(
            f"body{k}",
            parent=names[rng.integers(len(names))],
            joint=joint,
            placement=(rng.uniform(-1, 1, 3), (0.0, 0.0, rng.uniform(-3, 3))),
            mass=rng.uniform(0.5, 2.0),
            com=rng.uniform(-0.5, 0.5, 3),
            inertia=moments,
            armature=0.1 * (k % 2),
        )
        names.append(f"body{k}")
    model = b.build()
    q = [float(x) for x in model.random_q(rng)]
    v, a, tau = (x.tolist() for x in rng.standard_normal((3, model.nv)))
    return model, model.planar(), q, v, a, tau


@pytest.mark.seeds(5)
def test_inverse_dynamics(seed):
    """rnea and its parts, with an external wrench."""
    model, planar, q, v, a, _ = mechanism(seed)
    f_ext = np.random.default_rng(seed).standard_normal((model.nb, 6))
    f_ext[:, [0, 1, 5]] = 0.0  # forces in the plane, moments across it
    f_ext = f_ext.tolist()
    close(rnea(planar, q, v, a, f_ext), rnea(model, q, v, a, f_ext))
    close(bias_forces(planar, q, v), bias_forces(model, q, v))


@pytest.mark.seeds(5)
def test_mass_matrix_and_forward_dynamics(seed):
    """crba, aba and the kinetic energy."""
    model, planar, q, v, _, tau = mechanism(seed)
    M = np.array(crba(model, q))
    close(crba(planar, q), M)
    close(aba(planar, q, v, tau), aba(model, q, v, tau), scale=np.linalg.cond(M))
    close(kinetic_energy(planar, q, v), kinetic_energy(model, q, v))


def operations(model, function, *sizes):
    """Multiplications and additions of an algorithm traced for floats as constants."""
    graph = Graph()
    arrays = [[graph.input(k, j) for j in range(size)] for k, size in enumerate(sizes)]
    result = function(model, *arrays)
    inputs = [(f"x{k}", (size,)) for k, size in enumerate(sizes)]
    return lower(graph, inputs, [("y", (len(result),), result)]).operations.total


def test_spatial_algebra_costs_no_more_when_traced():
    """What is zero in the plane folds away: the spatial form of a planar arm is traced to the planar cost or below."""
    model = kt.models.zigzag_arm()
    planar = model.planar()
    for function, sizes in ((rnea, (6, 6, 6)), (aba, (6, 6, 6))):
        assert operations(model, function, *sizes) <= operations(planar, function, *sizes)


def test_a_joint_out_of_the_plane_is_refused():
    """By name, with the joint that decided which plane it is."""
    b = kt.ModelBuilder("tilted")
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": np.eye(3)}
    b.add_body("arm", joint=Revolute((0, 0, 1)), joint_name="yaw", **body)
    b.add_body("hand", "arm", Revolute((0, 1, 0)), joint_name="pitch", **body)
    expected = r"joint 'pitch' .* turns about another axis.*\(0, 0, 1\).*joint 'yaw' turns about"
    with pytest.raises(kt.errors.ModelError, match=expected):
        b.build().planar()


def test_a_placement_out_of_the_plane_is_refused():
    """The joint behind it is named."""
    b = kt.ModelBuilder("tilted")
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": np.eye(3)}
    b.add_body("arm", joint=Revolute((0, 0, 1)), joint_name="yaw", **body)
    b.add_body("hand", "arm", Revolute((0, 0, 1)), "wrist", ((0, 0, 0), (0.3, 0, 0)), **body)
    with pytest.raises(kt.errors.ModelError, match="joint 'wrist'.*leaves the plane"):
        b.build().planar()


def test_a_slide_along_the_normal_is_refused():
    """It keeps the direction of the plane, not the plane."""
    b = kt.ModelBuilder("scara")
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": np.eye(3)}
    b.add_body("arm", joint=Revolute((0, 0, 1)), joint_name="yaw", **body)
    b.add_body("hand", "arm", Prismatic((0, 0, 1)), joint_name="quill", **body)
    with pytest.raises(kt.errors.ModelError, match="joint 'quill'.*slides along the normal"):
        b.build().planar()


@pytest.mark.parametrize(
    ("axes", "gravity", "expected"),
    [
        ([Revolute((0, 1, 0))], (0.0, 0.0, -9.81), [(1, 0, 0), (0, 0, 1), (0, -1, 0)]),
        ([Revolute((1, 0, 0))], (0.0, 0.0, -9.81), [(0, 1, 0), (0, 0, 1), (1, 0, 0)]),
        ([Prismatic((1, 0, 0)), Prismatic((0, 0, 1))], (0.0, 0.0, 0.0), [(1, 0, 0), (0, 0, 1), (0, -1, 0)]),
        ([Prismatic((1, 0, 0))], (0.0, 0.0, -9.81), [(1, 0, 0), (0, 0, 1), (0, -1, 0)]),
        ([Prismatic((0, 0, 1))], (0.0, 0.0, -9.81), None),
    ],
)
def test_the_plane_is_found(axes, gravity, expected):
    """From the joint that turns, the two that slide, or the one that slides and gravity."""
    b, parent = kt.ModelBuilder("flat", gravity=gravity), "world"
    for k, joint in enumerate(axes):
        b.add_body(f"body{k}", parent, joint, mass=1.0, inertia=np.eye(3))
        parent = f"body{k}"
    planar = b.build().planar()
    E = planar.axes_of("world")
    close(E @ E.T, np.eye(3))
    if expected is not None:
        close(E, np.array(expected, dtype=float))


def test_what_needs_space_says_so():
    """Files and surgery take the spatial model, and say where it is; a planar model gives itself when pickled."""
    import pickle

    planar = kt.models.double_pendulum().planar()
    for use in (lambda: kt.ModelBuilder.of(planar), lambda: kt.io.to_urdf(planar), lambda: kt.io.to_mjcf(planar)):
        with pytest.raises(kt.errors.UnsupportedError, match=r"model\.spatial"):
            use()
    again = pickle.loads(pickle.dumps(planar))
    close(kt.crba(again, [0.1, 0.2]), kt.crba(planar, [0.1, 0.2]))
