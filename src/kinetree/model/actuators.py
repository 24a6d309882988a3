"""The force elements that the actuators of a model's equipment are, and the ranges of their forces on joints."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.actuators.dc_motor import DCMotorLaw
from kinetree.actuators.dynamics import DYNAMICS
from kinetree.actuators.gains import BIASES, GAINS
from kinetree.actuators.law import ActuatorLaw, Law
from kinetree.actuators.muscle_curves import FORCE
from kinetree.actuators.pid import PIDLaw
from kinetree.actuators.transmissions import (
    BallTransmission,
    FrameTransmission,
    JointTransmission,
    PathTransmission,
    SliderCrank,
    Transmission,
)
from kinetree.errors import ModelError
from kinetree.forces.actuator import Actuator, FrameActuator, TransmittedForce
from kinetree.forces.orientation_servo import OrientationServo
from kinetree.model import equipment as records
from kinetree.model.equipment import Equipment

ZERO = (0.0, 0.0, 0.0)


def actuator_elements(model, equipment: Equipment) -> tuple[TransmittedForce | OrientationServo, ...]:
    """The force elements of the actuators that are computed; those on a tendon with a range of forces are one.

    Parameters
    ----------
    model : Model
        Its tree and frames.
    equipment : Equipment

    Raises
    ------
    ModelError
        An actuator acts on a joint that has other freedoms than one, those of a ball joint, or of a free body.
    """
    tendons = {tendon.name: tendon for tendon in equipment.tendons}
    on_tendons: dict[str, list[records.Actuator]] = {}
    for a in equipment.computed_actuators:
        if a.transmission == "tendon":
            on_tendons.setdefault(a.target, []).append(a)
    found: list[TransmittedForce | OrientationServo] = []
    for a in equipment.computed_actuators:
        if a.transmission == "tendon" and tendons[a.target].actuator_force_range != records.EVERYWHERE:
            group = on_tendons.pop(a.target, None)
            if group:
                found.append(_bounded(tendons[a.target], group))
            continue
        if a.is_orientation_servo:
            found.append(_orientation_servo(model, a))
            continue
        transmission = _transmission(model, a, tendons)
        kind = Actuator if transmission.is_rate else FrameActuator
        found.append(kind(a.name, transmission, (_law(a, transmission),)))
    return tuple(found)


def _orientation_servo(model, a: records.Actuator) -> OrientationServo:
    joint, frame = (a.target, None) if a.reference is None else (None, a.target)
    if joint is not None and model.joints[model.joint(joint)].kind != "spherical":
        raise ModelError(f"{a}: joint {joint!r} turns about no three axes, expected a ball joint", joint=joint)
    _, minus_k, minus_d = _padded(a.bias_parameters, 3)
    limits, (_, largest) = _present(a.control_range), a.force_range
    largest = None if largest == math.inf else largest
    return OrientationServo(a.name, joint, frame, a.reference, -minus_k, -minus_d, "w" in a.inputs, limits, largest)


def _bounded(tendon: records.Tendon, group: list[records.Actuator]) -> Actuator:
    path = PathTransmission(tendon.path)
    name = group[0].name if len(group) == 1 else f"actuators of tendon {tendon.name}"
    return Actuator(name, path, tuple(_law(a, path) for a in group), tendon.actuator_force_range)


def _transmission(model, a: records.Actuator, tendons) -> Transmission:
    if a.transmission == "tendon":
        return PathTransmission(tendons[a.target].path)
    if a.transmission == "slider_crank":
        return SliderCrank(a.target, a.reference, a.crank_length)
    force, torque = a.gear[:3], a.gear[3:]
    if a.transmission == "site":
        ancestor = None
        if a.reference is not None:
            bodies = (model.frame(name).body for name in (a.target, a.reference))
            ancestor = model.body_names[model.common_ancestor(*bodies)]
            ancestor = None if ancestor == model.body_names[0] else ancestor
        return FrameTransmission(a.target, force, torque, reference=a.reference, ancestor=ancestor)
    i, in_parent = model.joint(a.target), a.transmission == "joint_in_parent"
    joint = model.joints[i]
    if joint.nq == joint.nv == 1:
        return JointTransmission(a.target)
    if joint.kind == "spherical":
        return BallTransmission(a.target, force, in_parent)
    if joint.kind == "free":
        axes = "world" if in_parent else "frame"
        return FrameTransmission(model.body_names[i], force, torque, "world", axes)
    raise ModelError(
        f"{a}: joint {a.target!r} ({joint!r}) has {joint.nv} velocities, expected a joint of one, a ball joint or a "
        "free one",
        joint=a.target,
    )


def _law(a: records.Actuator, transmission: Transmission) -> Law:
    gear, force_range = a.gear[0] if transmission.is_rate else 1.0, _present(a.force_range)
    if a.is_controller:
        return _controller(a, gear, force_range)
    if a.is_dc_motor:
        return _dc_motor(a, gear, force_range)
    known = {"dynamics": DYNAMICS | {"none": (None, 0)}, "gain": GAINS, "bias": BIASES}
    counts = {f"{law}_parameters": kinds[getattr(a, law)][1] for law, kinds in known.items()}
    given = {what: _padded(getattr(a, what), count) for what, count in counts.items()}
    muscles = [law for law in ("gain", "bias") if getattr(a, law) == "muscle"]
    scaled = tuple(law for law in muscles if given[f"{law}_parameters"][FORCE] < 0.0)
    servo = a.gain == "fixed" and a.bias == "affine" and given["gain_parameters"][0] == -given["bias_parameters"][1]
    return ActuatorLaw(
        a.name,
        gear,
        a.dynamics, a.gain, a.bias, **given,
        control_range=_present(a.control_range),
        activation_range=_present(a.activation_range) if a.dynamics != "none" else None,
        force_range=force_range,
        length_range=a.length_range if muscles else None,
        acc0=a.acc0 if scaled else None,
        early=a.early if a.early and a.dynamics != "none" else None,
        scaled=scaled,
        is_servo=servo and a.dynamics in ("none", "integrator"),
    )  # fmt: skip


def _controller(a: records.Actuator, gear: float, force_range) -> PIDLaw:
    _, kp, kv = _padded(a.bias_parameters, 3)
    limit, slew = _padded(a.dynamics_parameters, 2)
    ki = a.gain_parameters[0] if a.gain_parameters and a.dynamics == "pid" else None
    ranges = {f"{what}_range": _present(limits) for what, limits in zip(a.inputs, a.input_ranges, strict=True)}
    slew = slew if slew > 0.0 else None
    return PIDLaw(
        a.name, gear, a.inputs, -kp, -kv, ki, limit if limit > 0.0 else None, slew, a.early if slew else None, **ranges,
        force_range=force_range,
    )  # fmt: skip


def _dc_motor(a: records.Actuator, gear: float, force_range) -> DCMotorLaw:
    """The order of parameters is MuJoCo's."""
    R, K, coefficient, reference, kp, ki, kd, voltage = _padded(a.gain_parameters, 8)
    lag, rate, outward, capacity, ambient, stiffness, damping, slew, limit = _padded(a.dynamics_parameters, 9)
    amplitude, periods, phase, coulomb, static, stribeck = _padded(a.bias_parameters, 6)

    def positive(x: float) -> float | None:
        return x if x > 0.0 else None

    return DCMotorLaw(
        a.name, gear, a.inputs, R, K, positive(lag), positive(rate), (kp, ki, kd), positive(voltage), positive(slew),
        positive(limit),
        thermal=(outward, capacity, ambient, coefficient, reference) if outward > 0.0 else None,
        friction=(stiffness, damping, coulomb, static, stribeck) if stiffness > 0.0 else None,
        cogging=(amplitude, periods, phase) if amplitude else None,
        step=a.early,
        input_ranges=tuple(x for limits in a.input_ranges for x in limits),
        force_range=force_range,
    )  # fmt: skip


def _padded(values: tuple, count: int) -> tuple:
    return (*values, *(0.0,) * count)[:count]


def _present(limits: tuple[float, float]) -> tuple[float, float] | None:
    return None if limits == records.EVERYWHERE else limits


def joint_force_ranges(model, equipment: Equipment) -> tuple[tuple[int, float, float], ...]:
    """Velocity coordinate, lower and upper limit of each range of actuator forces on a joint."""
    return tuple(_joint_ranges(model, equipment)) if equipment.computed_actuators else ()


def _joint_ranges(model, equipment: Equipment) -> Iterator[tuple[int, float, float]]:
    for limits in equipment.force_ranges:
        yield model.coordinate(limits.joint), limits.lower, limits.upper
