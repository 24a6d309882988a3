"""Force elements of a file: fluids, compensation of gravity, springs of free joints, springs of higher order."""

from __future__ import annotations

import numpy as np

from kinetree.forces import BoxDrag, EllipsoidDrag, PointForce, PointSpring, TendonForce
from kinetree.io.mjcf.layout import FREE, HINGE, SLIDE, Layout
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics, higher
from kinetree.io.mjcf.shapes import geom_frame
from kinetree.model import ModelBuilder
from kinetree.model.builder import rotation_of_quaternion
from kinetree.spatial import GeneralRotation, Matrix3
from kinetree.spatial.rotations import quaternion_from_rotation
from kinetree.tendons import JointTerm

HIGHER = "higher orders of "  # before the name of a joint
MINIMUM = 1e-15  # MuJoCo's mjMINVAL
_SPHERE, _CAPSULE, _CYLINDER = 2, 3, 5  # MuJoCo's mjtGeom


def add_body_forces(builder: ModelBuilder, place: Layout, physics: Physics, notes: Notes) -> None:
    """Add a force element for each moving body, or geom, that a fluid or a compensation acts on."""
    mj = place.mj
    wind = mj.opt.wind.tolist()
    fluid = {"density": float(mj.opt.density), "viscosity": float(mj.opt.viscosity), "wind": wind}
    wet = bool(mj.nv) and (fluid["density"] > 0.0 or fluid["viscosity"] > 0.0)
    for b in range(1, mj.nbody):
        if not mj.body_weldid[b]:
            continue
        if wet and mj.body_mass[b] >= MINIMUM:
            _add_fluid(builder, place, b, fluid)
        if not mj.body_gravcomp[b]:
            continue
        weight = mj.body_gravcomp[b] * mj.body_mass[b] * np.asarray(physics.gravity)
        if np.any(weight):
            _check_ranges(place, b, notes)
            name = place.bodies[b]  # the frame of that name is MuJoCo's, wherever the joints are
            builder.add_force(PointForce(f"gravcomp {name}", name, -weight, mj.body_ipos[b]))


def add_higher_orders(builder: ModelBuilder, place: Layout, physics: Physics) -> None:
    """Add elements for the higher powers in springs and dampers of joints of one freedom."""
    mj = place.mj
    for j, name in enumerate(place.joints):
        if name is None or mj.jnt_type[j] not in (SLIDE, HINGE):
            continue
        stiffness = higher(mj, "jnt_stiffnesspoly", j, physics.springs)
        damping = higher(mj, "dof_dampingpoly", int(mj.jnt_dofadr[j]), physics.dampers)
        if stiffness or damping:
            rest = float(mj.qpos_spring[mj.jnt_qposadr[j]])
            path = (JointTerm(name, 1.0),)
            more = {"higher_stiffness": stiffness, "higher_damping": damping}
            builder.add_force(TendonForce(f"{HIGHER}{name}", path, rest_length=rest, **more))


def add_free_springs(builder: ModelBuilder, place: Layout, physics: Physics) -> None:
    """Add springs for the displacement of free joints, which in MuJoCo acts along the world's axes."""
    mj = place.mj
    for j, name in enumerate(place.joints):
        if name is None or mj.jnt_type[j] != FREE or not physics.stiffness[j]:
            continue
        start = mj.qpos_spring[place.positions(j)][:3]
        body = place.bodies[int(mj.jnt_bodyid[j])]
        builder.add_force(PointSpring(f"spring of {name}", "world", body, float(physics.stiffness[j]), start_at=start))


def _check_ranges(place: Layout, b: int, notes: Notes) -> None:
    """Forces of compensation on joints with ``actuatorgravcomp`` count as actuators', whose sum has a range."""
    mj = place.mj
    while b:
        for j in range(mj.body_jntadr[b], mj.body_jntadr[b] + mj.body_jntnum[b]):
            if mj.jnt_actgravcomp[j] and mj.jnt_actfrclimited[j]:
                name = place.joints[j]
                message = f"gravity compensation by the actuators of joint '{name}', within their range of forces"
                notes.unsupported(("joint", name), message)
        b = int(mj.body_parentid[b])


def _add_fluid(builder: ModelBuilder, place: Layout, b: int, fluid: dict) -> None:
    """Ellipsoids at the geoms that have them; else the box of the body's inertia."""
    mj = place.mj
    geoms = [g for g in range(mj.body_geomadr[b], mj.body_geomadr[b] + mj.body_geomnum[b]) if mj.geom_fluid[g, 0] > 0.0]
    for g in geoms:
        _, blunt, slender, angular, kutta, magnus = mj.geom_fluid[g, :6].tolist()
        frame = geom_frame(builder, place, g)
        builder.add_force(EllipsoidDrag(
            f"fluid {frame}", frame, _semiaxes(int(mj.geom_type[g]), mj.geom_size[g].tolist()), **fluid, blunt=blunt,
            slender=slender, angular=angular, kutta=kutta, magnus=magnus,
            virtual_mass=mj.geom_fluid[g, 6:9].tolist(), virtual_inertia=mj.geom_fluid[g, 9:12].tolist(),
        ))  # fmt: skip
    if not geoms:
        moments, mass = mj.body_inertia[b], float(mj.body_mass[b])
        size = np.sqrt(6.0 * np.maximum(moments.sum() - 2.0 * moments, MINIMUM) / mass)
        R = rotation_of_quaternion(mj.body_iquat[b])
        turn = quaternion_from_rotation(GeneralRotation(Matrix3([tuple(row) for row in R.T.tolist()])))
        name = place.bodies[b]
        builder.add_force(BoxDrag(f"fluid {name}", name, size, **fluid, at=mj.body_ipos[b], orientation=turn))


def _semiaxes(kind: int, size: list[float]) -> list[float]:
    """Of the ellipsoid in the place of a geom, as MuJoCo takes it."""
    if kind == _SPHERE:
        return [size[0]] * 3
    if kind in (_CAPSULE, _CYLINDER):
        return [size[0], size[0], size[1] + (size[0] if kind == _CAPSULE else 0.0)]
    return size
