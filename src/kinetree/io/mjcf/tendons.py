"""Tendons of a compiled MJCF model, as data."""

from __future__ import annotations

import numpy as np

from kinetree.forces.registry import names_in
from kinetree.io.mjcf.layout import Layout
from kinetree.io.mjcf.names import of_kind, unique
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics
from kinetree.io.mjcf.shapes import geom_frame
from kinetree.model import Equipment, JointTerm, ModelBuilder, Pulley, Tendon, ViaPoint, WrapShape
from kinetree.model.actuators import EVERYWHERE

_JOINT, _PULLEY, _SITE, _SPHERE, _CYLINDER = range(1, 6)  # MuJoCo's mjtWrap
_SHAPES = {_SPHERE: "sphere", _CYLINDER: "cylinder"}


def add_tendons(builder: ModelBuilder, place: Layout, physics: Physics, notes: Notes) -> list[str]:
    """Add the tendons; return their names by MuJoCo's number."""
    mj = place.mj
    names = unique(of_kind(mj, "tendon", mj.ntendon), "tendon")
    tendons = []
    for t, name in enumerate(names):
        limited = bool(mj.tendon_limited[t]) and physics.limits
        forced = hasattr(mj, "tendon_actfrclimited") and bool(mj.tendon_actfrclimited[t])
        tendons.append(
            Tendon(
                name,
                tuple(_path(builder, place, t, name, notes)),
                stiffness=float(np.ravel(mj.tendon_stiffness[t])[0]) * physics.springs,
                damping=float(physics.tendon_damping[t]),
                **{names_in("mjcf")["frictionloss"]: float(mj.tendon_frictionloss[t]) * physics.friction},
                armature=float(physics.tendon_armature[t]),
                rest_length=tuple(map(float, mj.tendon_lengthspring[t])),
                lower=float(mj.tendon_range[t, 0]) if limited else -np.inf,
                upper=float(mj.tendon_range[t, 1]) if limited else np.inf,
                actuator_force_range=tuple(map(float, mj.tendon_actfrcrange[t])) if forced else EVERYWHERE,
            )
        )
    builder.equipment += Equipment(tendons=tuple(tendons))
    return names


def _path(builder: ModelBuilder, place: Layout, t: int, name: str, notes: Notes):
    mj = place.mj
    for w in range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t]):
        kind, target, number = int(mj.wrap_type[w]), int(mj.wrap_objid[w]), float(mj.wrap_prm[w])
        if kind == _JOINT:
            joint = place.joints[target]
            if joint is None:
                where = notes.sources.where("tendon", name)
                notes.warning(where, f"tendon '{name}' refers to a joint that is fixed now, whose term is left out")
            else:
                yield JointTerm(joint, number)
        elif kind == _SITE:
            yield ViaPoint(place.sites[target])
        elif kind in _SHAPES:
            side = place.sites[int(number)] if number >= 0.0 else None
            frame = geom_frame(builder, place, target)
            yield WrapShape(_SHAPES[kind], frame, float(mj.geom_size[target, 0]), side)
        elif kind == _PULLEY:
            yield Pulley(number)
