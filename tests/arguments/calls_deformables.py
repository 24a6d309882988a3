"""One valid call of the public callables of deformables."""

from __future__ import annotations

import pathlib

import numpy as np

import kinetree as kt
from kinetree import viz
from kinetree.deformables.springs import SPRING


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    D = kt.deformables
    corner, cell = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0, 1, 2, 3]]
    rubber, mesh = D.Material(1e6), D.TetrahedralMesh(corner, cell)
    line = dict(start=(0, 0, 0), end=(1, 0, 0), segments=2, mass=1.0, axial_stiffness=10.0)
    rope = D.strand(**line)
    ropes = dict(nodes=rope.nodes, masses=rope.masses, elements=rope.elements)
    model = kt.models.pendulum()
    scene = D.Coupled(model, rope, D.Attachment(0, "bob"))
    run = scene.simulate(0.02, 0.01)
    run.save(folder / "strand.npz")
    state = dict(q=[0.1], v=[0.2], nodes=rope.nodes, velocities=rope.nodes, x0=None)
    size = (1.0, 0.1, 0.1)
    return {
        "deformables.Attachment": (D.Attachment, dict(nodes=0, frame="bob", at=(0.0, 0.0, 0.0), body="strand")),
        "deformables.Coupled": (
            D.Coupled,
            dict(model=model, bodies=rope, attachments=(D.Attachment(0, "bob"),), q=[0.1], gravity=None, solver="cg"),
        ),
        "deformables.Deformable": (
            D.Deformable,
            dict(name="x", **ropes, fixed=(0,), mass_damping=0.0, triangles=np.zeros((0, 3), int)),
        ),
        "deformables.Elements": (D.Elements, dict(law=SPRING, nodes=[[0, 1]], parameters=[[1.0, 1.0, 0.0, 0.0]])),
        "deformables.Material": (
            D.Material,
            dict(young_modulus=1e6, poisson_ratio=0.3, density=1.0, law="linear", viscosity=0.0, mass_damping=0.0),
        ),
        "deformables.TetrahedralMesh": (D.TetrahedralMesh, dict(nodes=corner, tetrahedra=cell, name="x")),
        "deformables.beam": (
            D.beam,
            dict(size=size, cells=(1, 1, 1), material=rubber, origin=(0, 0, 0), rotation=np.eye(3), fixed=(), name="x"),
        ),
        "deformables.beam_mesh": (D.beam_mesh, dict(size=size, cells=(1, 1, 1))),
        "deformables.cloth": (
            D.cloth,
            dict(
                corner=(0, 0, 0), along=(1, 0, 0), across=(0, 1, 0), cells=(2, 2), mass=1.0, stretch_stiffness=1.0,
                shear_stiffness=1.0, bend_stiffness=1.0, damping=0.0, mass_damping=0.0, fixed=(0,), name="x",
            ),
        ),
        "deformables.cloth_of_triangles": (
            D.cloth_of_triangles,
            dict(
                nodes=corner[:3], triangles=[[0, 1, 2]], mass=1.0, stretch_stiffness=1.0, bend_stiffness=1.0,
                damping=0.0, mass_damping=0.0, fixed=(0,), name="x",
            ),
        ),
        "deformables.load_run": (D.load_run, dict(path=str(folder / "strand.npz"))),
        "deformables.solid": (
            D.solid,
            dict(mesh=mesh, material=rubber, origin=(0, 0, 0), rotation=np.eye(3), fixed=(), name="x"),
        ),
        "deformables.spring_network": (
            D.spring_network,
            dict(
                name="x", nodes=corner[:2], masses=[1.0, 1.0], pairs=[[0, 1]], stiffness=1.0, rest_lengths=None,
                damping=0.0, fixed=(),
            ),
        ),
        "deformables.strand": (
            D.strand,
            line
            | dict(bending_stiffness=0.1, rest_length=1.0, damping=0.0, mass_damping=0.0, fixed=(), name="x"),
        ),
        "deformables.Coupled.simulate": (
            scene.simulate,
            dict(
                q0=[0.1], v0=[0.2], nodes=rope.nodes, velocities=rope.nodes, x0=None,
                duration=0.01, dt=0.01, integrator="bdf1", controller=None, inputs=None, record=kt.Record(),
                progress=False,
            ),
        ),
        "deformables.Coupled.rollout_gradient": (
            scene.rollout_gradient,
            dict(
                q0=[0.1], v0=[0.2], nodes=rope.nodes, velocities=rope.nodes, x0=None, duration=0.01, dt=0.01,
                running=None, terminal=lambda s: s.position(1).z, tau=[[0.1]], control=None, numbers=("bob.mass",),
                integrator="bdf1",
            ),
        ),
        "deformables.Coupled.state": (scene.state, state),
        "deformables.Coupled.energies": (scene.energies, dict(state=scene.state())),
        "deformables.Coupled.attachment_jacobian": (scene.attachment_jacobian, dict(q=[0.1], v=[0.2])),
        "deformables.CoupledRun.nodes": (run.nodes, dict(name="strand")),
        "deformables.CoupledRun.save": (run.save, dict(path=str(folder / "again.npz"))),
        "deformables.CoupledRun.plot": (run.plot, dict(frames=2, path=None, show=False)),
        "viz.plot_deformables": (viz.plot_deformables, dict(run=run, frames=2, path=None, show=False)),
        "deformables.Deformable.nearest": (rope.nearest, dict(point=(0, 0, 0))),
        "deformables.Deformable.inside": (rope.inside, dict(lower=(0, 0, 0), upper=(1, 1, 1))),
        "deformables.Deformable.with_fixed": (rope.with_fixed, dict(nodes=[0])),
    }  # fmt: skip
