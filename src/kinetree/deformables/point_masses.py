"""Scenes of springs as ordinary models: point masses on translational joints, and spring elements."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.deformables.springs import SPRING
from kinetree.deformables.system import CoupledSystem
from kinetree.errors import UnsupportedError
from kinetree.forces.point_spring import PointSpring
from kinetree.joints import Translational
from kinetree.model.builder import ModelBuilder
from kinetree.surgery.joining import add_payload

ORIGIN = (0.0, 0.0, 0.0)


def point_mass_model(scene: CoupledSystem):
    """The model of `Coupled.point_mass_model`."""
    nodes, model = scene.elements, scene.model
    for block in nodes.blocks:
        if block.law is not SPRING or block.is_viscous:
            fault = f"elements of law {block.law.kind!r}" + " with viscosity" * block.is_viscous
            raise UnsupportedError(f"point_mass_model: the scene has {fault}, expected springs alone.")
    points = dict(_points(scene))
    for k, place in zip(nodes.attached, scene.points.at, strict=True):
        if model.frame(points[k][0]).body:  # a mass on the world changes nothing
            model = add_payload(model, points[k][0], nodes.masses[k], place)
    b = ModelBuilder("point masses", gravity=nodes.gravity) if model is None else ModelBuilder.of(model)
    for k in nodes.free:
        placement, damping = (nodes.rest[k], ORIGIN), nodes.drag[k]
        b.add_body(points[k][0], joint=Translational(), placement=placement, mass=nodes.masses[k], damping=damping)
    springs = ((pair, p) for block in nodes.blocks for pair, p in zip(block.nodes, block.parameters, strict=True))
    for n, ((start, end), (stiffness, length, damping, _)) in enumerate(springs):
        (first, first_at), (second, second_at) = points[start], points[end]
        b.add_force(PointSpring(f"spring {n}", first, second, stiffness, length, damping, first_at, second_at))
    return b.build()


def _points(scene: CoupledSystem) -> Iterator[tuple[int, tuple]]:
    """For each node the frame and the place in it: a body of its own, a frame of the model, or the world."""
    nodes = scene.elements
    for body, start in zip(scene.bodies, scene.starts, strict=False):
        for k in range(len(body.nodes)):
            yield int(start) + k, (f"{body.name} {k}", ORIGIN)
    for k in nodes.fixed:
        yield int(k), ("world", tuple(nodes.rest[k].tolist()))
    for k, frame, at in zip(nodes.attached, scene.points.frames, scene.points.at, strict=True):
        yield int(k), (scene.rigid.frames[frame], tuple(at.tolist()))
