"""Springs and dampers beyond limits, as stiff as MuJoCo's soft constraints where the file shows the robot."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.constraints.loop_joint import Softness
from kinetree.forces import RotationStop
from kinetree.forces.rotation_stop import HALF_TURN
from kinetree.io.mjcf.layout import BALL, Layout
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics
from kinetree.model import ModelBuilder, RotationLimit

MINIMUM = 1e-15  # MuJoCo's mjMINVAL
PREFIX = "range of "


def stop_of(softness: Softness, inverse_weight: float) -> tuple[float, float]:
    """Stiffness and damping of a stop along a quantity with this inverse inertia, MuJoCo's ``invweight0``.

    Source: MuJoCo, "Modeling: Solver parameters": the acceleration along the quantity is ``-b v - k r``.
    """
    solref, widest, mass = softness.solref, softness.solimp[1], 1.0 / max(inverse_weight, MINIMUM)
    if solref[0] > 0.0:
        time_constant, damping_ratio = solref
        k, b = 1.0 / (widest * time_constant * damping_ratio) ** 2, 2.0 / (widest * time_constant)
    else:
        k, b = -solref[0] / widest**2, -solref[1] / widest
    return mass * k, mass * b


def rotation_limits(place: Layout, physics: Physics) -> Iterator[RotationLimit]:
    """The limits of ball joints."""
    mj = place.mj
    for j, name in enumerate(place.joints if physics.limits else ()):
        if name is not None and mj.jnt_type[j] == BALL and mj.jnt_limited[j]:
            softness = Softness(map(float, mj.jnt_solref[j]), map(float, mj.jnt_solimp[j]))
            yield RotationLimit(name, float(max(mj.jnt_range[j])), softness=softness)


def add_rotation_stops(builder: ModelBuilder, place: Layout, physics: Physics, notes: Notes) -> None:
    """Add the stops at the limits of ball joints, with an entry of the report."""
    mj, limits = place.mj, list(rotation_limits(place, physics))
    numbers = {name: j for j, name in enumerate(place.joints)}
    for limit in limits:
        weight = float(mj.dof_invweight0[mj.jnt_dofadr[numbers[limit.joint]]])
        k, d = stop_of(limit.softness, weight)
        builder.add_force(RotationStop(f"{PREFIX}{limit.joint}", limit.joint, min(limit.angle, HALF_TURN), k, d))
    if limits:
        at = "joint", limits[0].joint
        count = "1 ball joint has a limit" if len(limits) == 1 else f"{len(limits)} ball joints have limits"
        notes.info(at, f"{count} of rotation: here springs with dampers beyond; in MuJoCo soft constraints")
        if early := max(float(mj.jnt_margin[numbers[limit.joint]]) for limit in limits):
            notes.info(at, f"limits of rotation with a margin up to {early:g}: MuJoCo's push from there on, not here")
