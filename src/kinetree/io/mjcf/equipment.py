"""Equipment of a compiled MJCF model: tendons, equality constraints, actuators, keyframes, and the report about them.

MuJoCo holds equality constraints softly; here they are exact. A weld keeps the pose of body 2 at ``relpose`` in body 1,
at an anchor given in both (``eq_data``: anchor in body 2, anchor in body 1, quaternion, torque scale).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.actuators.muscle_curves import FORCE
from kinetree.arguments import listed
from kinetree.forces.registry import names_in
from kinetree.io.free_names import Names
from kinetree.io.mjcf.contacts import contact_pairs
from kinetree.io.mjcf.layout import BALL, FREE, HINGE, SLIDE, Layout, names_of
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics, higher
from kinetree.io.mjcf.shapes import geom_frame
from kinetree.io.mjcf.stops import rotation_limits, stop_of
from kinetree.joints import Fixed, Spherical
from kinetree.model import Actuator, ModelBuilder, equipment
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.equalities import equality_constraints
from kinetree.model.equipment import EVERYWHERE
from kinetree.model.parts import transform_of_pose
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape

INITIAL = "initial"  # the keyframe where a simulation starts by default
LAWS = {"dynamics": "dyn", "gain": "gain", "bias": "bias"}  # of actuators, and how MuJoCo's names begin
_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # MuJoCo's mjtEq
_JOINT_TERM, _PULLEY, _SITE, _SPHERE, _CYLINDER = range(1, 6)  # MuJoCo's mjtWrap
_WRAPPED = {_SPHERE: "sphere", _CYLINDER: "cylinder"}
_TRANSMISSIONS = ("joint", "joint_in_parent", "slider_crank", "tendon", "site", "body", "rotation")  # MuJoCo's mjtTrn
_CONTROLLED = ("pid", "dcmotor", "so3")  # gains with several controls
_INPUTS = {1: "position", 2: "velocity", 4: "feedforward", 8: "voltage"}  # MuJoCo's mjtCtrlInput
_GROUPS = 31  # of actuators, which an option of the file switches off
_CODE = "not-computed"
_REFUSED = "so forward_dynamics, simulate, ... refuse the model"
# Equipment that the dynamics do not compute, by type: the kind of element, one of them, several.
_KINDS = {
    equipment.Tendon: ("tendon", "tendon with hard limits", "tendons with hard limits"),
}


def add_equipment(builder: ModelBuilder, place: Layout, physics: Physics, notes: Notes) -> None:
    """Add all equipment; linear equalities of joints become couplings. Equipment that is not computed is reported."""
    mj = place.mj
    tendon_names = names_of(mj, "tendon", mj.ntendon)
    tendons = [_tendon(builder, place, physics, t, name, notes) for t, name in enumerate(tendon_names)]
    constraints = [*rotation_limits(place, physics), *_equalities(builder, place, physics, tendon_names, notes)]
    made = equipment.Equipment(
        tuple(each for each in constraints if isinstance(each, equipment.LoopJoint)),
        tuple(each for each in constraints if not isinstance(each, equipment.LoopJoint)),
        tuple(tendons),
        tuple(_actuators(place, physics, tendon_names, notes)),
        tuple(_keyframes(place, notes)),
        tuple(_force_ranges(place)),
        *contact_pairs(place, notes),
    )
    _report(made, notes)
    builder.equipment += made


# Tendons ----------------------------------------------------------------------------------------------------------


def _tendon(
    builder: ModelBuilder, place: Layout, physics: Physics, t: int, name: str, notes: Notes
) -> equipment.Tendon:
    mj = place.mj
    limited = mj.tendon_limited[t] and physics.limits
    stops = _stops(mj, t) if limited else {}
    if limited and mj.tendon_margin[t] > 0.0:
        message = f"tendon '{name}': MuJoCo's push from the margin {mj.tendon_margin[t]:g} before its limits, not here"
        notes.info(("tendon", name), message)
    forced = hasattr(mj, "tendon_actfrclimited") and mj.tendon_actfrclimited[t]
    return equipment.Tendon(
        name,
        tuple(_path(builder, place, t, name, notes)),
        stiffness=float(np.ravel(mj.tendon_stiffness[t])[0]) * physics.springs,
        damping=float(physics.tendon_damping[t]),
        **{names_in("mjcf")["frictionloss"]: float(mj.tendon_frictionloss[t]) * physics.friction},
        armature=float(physics.tendon_armature[t]),
        higher_stiffness=higher(mj, "tendon_stiffnesspoly", t, physics.springs),
        higher_damping=higher(mj, "tendon_dampingpoly", t, physics.dampers),
        rest_length=_floats(mj.tendon_lengthspring[t]),
        lower=float(mj.tendon_range[t, 0]) if limited else -np.inf,
        upper=float(mj.tendon_range[t, 1]) if limited else np.inf,
        actuator_force_range=_floats(mj.tendon_actfrcrange[t]) if forced else EVERYWHERE,
        **stops,
    )


def _stops(mj, t: int) -> dict[str, object]:
    """The spring and damper beyond a limit, and the file's numbers for them."""
    softness = equipment.Softness(_floats(mj.tendon_solref_lim[t]), _floats(mj.tendon_solimp_lim[t]))
    k, d = stop_of(softness, float(mj.tendon_invweight0[t]))
    return {"limit_stiffness": k, "limit_damping": d, "limit_softness": softness}


def _path(builder: ModelBuilder, place: Layout, t: int, name: str, notes: Notes):
    mj = place.mj
    for w in range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t]):
        kind, target, number = int(mj.wrap_type[w]), int(mj.wrap_objid[w]), float(mj.wrap_prm[w])
        if kind == _JOINT_TERM:
            joint = place.joints[target]
            if joint is None:
                message = f"tendon '{name}' refers to a joint that is fixed now, whose term is left out"
                notes.warning(("tendon", name), message)
            else:
                yield JointTerm(joint, number)
        elif kind == _SITE:
            yield ViaPoint(place.sites[target])
        elif kind in _WRAPPED:
            side = place.sites[int(number)] if number >= 0.0 else None
            frame = geom_frame(builder, place, target)
            inside = side is not None and _is_inside(place, target, int(number), name, notes)
            yield WrapShape(_WRAPPED[kind], frame, float(mj.geom_size[target, 0]), side, inside)
        elif kind == _PULLEY:
            yield Pulley(number)


def _is_inside(place: Layout, geom: int, site: int, name: str, notes: Notes) -> bool:
    """Whether a side site is inside a shape; where it moves relative to it, in the position shown by the file."""
    import mujoco

    mj, at = place.mj, mujoco.MjData(place.mj)
    mujoco.mj_kinematics(mj, at)
    inside = bool(np.linalg.norm(at.site_xpos[site] - at.geom_xpos[geom]) < mj.geom_size[geom, 0])
    if mj.body_weldid[mj.site_bodyid[site]] != mj.body_weldid[mj.geom_bodyid[geom]]:
        where = "inside" if inside else "outside of"
        message = f"tendon '{name}': its side site moves relative to the shape and counts as {where} it"
        notes.info(("tendon", name), message)
    return inside


# Equality constraints ---------------------------------------------------------------------------------------------


def _equalities(
    builder: ModelBuilder, place: Layout, physics: Physics, tendons: list[str], notes: Notes
) -> Iterator[equipment.LoopJoint | equipment.Equality]:
    import mujoco

    mj = place.mj
    masters: dict[str, str] = {}  # of the couplings so far
    for e, name in enumerate(names_of(mj, "equality", mj.neq)):
        kind, at = int(mj.eq_type[e]), ("equality", name)
        active = bool(mj.eq_active0[e]) and physics.equalities
        common = {"softness": equipment.Softness(_floats(mj.eq_solref[e]), _floats(mj.eq_solimp[e])), "active": active}
        if kind in (_CONNECT, _WELD) and _on_one_body(mj, e):
            notes.info(at, f"equality '{name}' is between parts of one body, without effect: left out")
        elif kind in (_CONNECT, _WELD):
            yield _loop(place, e, name, common)
            if kind == _WELD and mj.eq_data[e, 10] not in (0.0, 1.0):
                scale = f"torquescale {mj.eq_data[e, 10]:g}"
                notes.info(at, f"weld '{name}': {scale} ignored, for the weld is exact here")
        elif kind in (_JOINT, _TENDON):
            ends = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
            of, known = ("joint", place.joints) if kind == _JOINT else ("tendon", tendons)
            shown = mj.qpos0[mj.jnt_qposadr] if kind == _JOINT else mj.tendon_length0  # where the file shows them
            follower, master = (known[k] if k >= 0 else None for k in ends)
            if follower is None or (ends[1] >= 0 and master is None):
                notes.warning(at, f"equality '{name}' refers to a joint that is fixed now: left out")
                continue
            y0, x0 = (float(shown[k]) if k >= 0 else 0.0 for k in ends)
            c = _trimmed(mj.eq_data[e, : 5 if master else 1])  # without a master only the constant counts
            if kind == _JOINT and active and master and len(c) == 2 and _may_follow(follower, master, masters):
                builder.add_coupling(follower, master, ratio=c[1], offset=y0 + c[0] - c[1] * x0)
                message = f"equality '{name}': joint '{follower}' follows '{master}' exactly; MuJoCo holds it softly"
                notes.info(at, message)
            else:
                yield equipment.Equality(name, of, follower, master, c, y0, x0, **common)
        elif active:
            what = mujoco.mjtEq(kind).name.removeprefix("mjEQ_").lower()
            notes.unsupported(at, f"equality '{name}' of kind '{what}'")
        else:
            notes.info(at, f"equality '{name}' is of a kind that a model does not hold, and switched off: left out")


def _on_one_body(mj, e: int) -> bool:
    """Whether nothing moves between the ends of an equality of points."""
    import mujoco

    ends = [int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])]
    if mj.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
        ends = [int(mj.site_bodyid[k]) for k in ends]
    return mj.body_weldid[ends[0]] == mj.body_weldid[ends[1]]


def _loop(place: Layout, e: int, name: str, common: dict) -> equipment.LoopJoint:
    import mujoco

    mj, data, weld = place.mj, place.mj.eq_data[e], place.mj.eq_type[e] == _WELD
    by_site = mj.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE
    frames = place.sites if by_site else place.bodies
    R_P, p_P, p_S = np.eye(3), np.zeros(3), np.zeros(3)
    if not by_site:
        p_P, p_S = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
        R_P = rotation_of_quaternion(data[6:10]) if weld else R_P
    # A weld with torque scale 0 connects two points.
    joint = Fixed() if weld and data[10] != 0.0 else Spherical()
    X_P, X_S = transform_of_pose(R_P, np.array(p_P)), transform_of_pose(np.eye(3), np.array(p_S))
    return equipment.LoopJoint(name, joint, frames[mj.eq_obj1id[e]], frames[mj.eq_obj2id[e]], X_P, X_S, **common)


def _may_follow(follower: str, master: str, masters: dict[str, str]) -> bool:
    """Whether one more coupling leaves every joint with one master and no cycle; then it is added to ``masters``.

    Each joint that is met on the way to the first master is noted as following that one, so that a long chain is
    walked along once.
    """
    chain, first = [], master
    while first in masters:
        chain.append(first)
        first = masters[first]
    masters.update(dict.fromkeys(chain, first))
    if follower in masters or first == follower:
        return False
    masters[follower] = first
    return True


# Actuators --------------------------------------------------------------------------------------------------------


def _actuators(place: Layout, physics: Physics, tendons: list[str], notes: Notes) -> Iterator[Actuator]:
    """The actuators with their transmissions and laws; transmissions that a model does not have are refused."""
    mj = place.mj
    count = len(mj.actuator_trntype)
    outputs = getattr(mj, "actuator_outadr", np.arange(count))  # before MuJoCo 4 each had one, and one control
    first, several = getattr(mj, "actuator_ctrladr", np.arange(count)), getattr(mj, "actuator_ctrlnum", np.ones(count))
    for k, name in enumerate(names_of(mj, "actuator", count)):
        at, kind = ("actuator", name), int(mj.actuator_trntype[k])
        if not 0 <= kind < len(_TRANSMISSIONS):
            notes.unsupported(at, f"actuator '{name}', whose transmission is none that a model holds")
            continue
        transmission, (target, reference) = _TRANSMISSIONS[kind], map(int, mj.actuator_trnid[k])
        ends = {"tendon": tendons, "body": place.bodies, "site": place.sites, "slider_crank": place.sites}
        of_joint = place.joints if transmission != "rotation" or reference < 0 else place.sites
        ends = ends.get(transmission, of_joint)
        if ends[target] is None:
            notes.warning(at, f"actuator '{name}' acts on a joint that is fixed now: left out")
            continue
        clamped = physics.clamps_controls and several[k] > 0
        laws = _laws(mj, k)
        slews = laws["dynamics"] == "pid" and any(laws["dynamics_parameters"][1:2])
        scaled = any(laws[kind] == "muscle" and laws[f"{kind}_parameters"][FORCE] < 0.0 for kind in ("gain", "bias"))
        yield Actuator(
            name,
            transmission,
            ends[target],
            gear=_floats(mj.actuator_gear[outputs[k]]),
            **laws,
            **_inputs(mj, k, int(first[k]), clamped),
            control_range=_range(mj, "ctrl", first[k]) if clamped else EVERYWHERE,
            force_range=_range(mj, "force", k),
            activation_range=_range(mj, "act", k),
            length_range=_floats(mj.actuator_lengthrange[outputs[k]]),
            reference=ends[reference] if reference >= 0 and ends is place.sites else None,
            crank_length=float(mj.actuator_cranklength[k]),
            acc0=float(mj.actuator_acc0[outputs[k]]) if scaled else 0.0,
            early=float(mj.opt.timestep) if mj.actuator_actearly[k] or slews else 0.0,
            delay=float(getattr(mj, "actuator_delay", np.zeros(count))[k]),
            plugin=_plugin(notes, name) if mj.actuator_plugin[k] >= 0 else "",
            active=physics.actuation and not _is_off(mj, k),
        )
        if several[k] > 1 and laws["gain"] not in _CONTROLLED:
            notes.info(at, f"actuator '{name}' has several controls, of which the first one's range is kept")


def _laws(mj, k: int) -> dict[str, object]:
    import mujoco

    found = {}
    for law, short in LAWS.items():
        kind = getattr(mujoco, f"mjt{short.capitalize()}")(int(getattr(mj, f"actuator_{short}type")[k]))
        found[law] = kind.name.removeprefix(f"mj{short.upper()}_").lower()
        found[f"{law}_parameters"] = _trimmed(getattr(mj, f"actuator_{short}prm")[k])
    return found


def _inputs(mj, k: int, first: int, clamped: bool) -> dict[str, tuple]:
    """The controls of a controller or DC motor by name, and their ranges."""
    kind = int(mj.actuator_gaintype[k])
    import mujoco

    known = (getattr(mujoco.mjtGain, f"mjGAIN_{name.upper()}", None) for name in _CONTROLLED)
    if kind not in [int(each) for each in known if each is not None]:
        return {}
    if kind == int(getattr(mujoco.mjtGain, "mjGAIN_SO3", -1)):
        chart = "xyz" if int(mj.actuator_ctrlspec[k]) == int(mujoco.mjtCtrlChart.mjCHART_EXPMAP) else "wxyz"
        return {"inputs": tuple(chart), "input_ranges": (EVERYWHERE,) * len(chart)}
    names = tuple(name for bit, name in _INPUTS.items() if int(mj.actuator_ctrlspec[k]) & bit)
    return {"inputs": names, "input_ranges": tuple(
        _range(mj, "ctrl", first + n) if clamped else EVERYWHERE for n in range(len(names)))}  # fmt: skip


def _range(mj, what: str, k: int) -> tuple[float, ...]:
    limited = getattr(mj, f"actuator_{what}limited")[k]
    return _floats(getattr(mj, f"actuator_{what}range")[k]) if limited else EVERYWHERE


def _is_off(mj, k: int) -> bool:
    """Whether the file's ``actuatorgroupdisable`` names the group of an actuator."""
    group = int(mj.actuator_group[k])
    return 0 <= group < _GROUPS and bool(int(mj.opt.disableactuator) >> group & 1)


def _plugin(notes: Notes, name: str) -> str:
    """The plugin that drives an actuator, by its name in the file."""
    node = notes.sources.find("actuator", name)
    named = [] if node is None else [node.element.get(attribute) for attribute in ("plugin", "instance")]
    return next(filter(None, named), "unnamed")


def _force_ranges(place: Layout) -> Iterator[equipment.ForceRange]:
    """Of joints of one freedom; they act on the sum of actuators, so only where there are some."""
    mj = place.mj
    for j, name in enumerate(place.joints if len(mj.actuator_trntype) else ()):
        if name is not None and mj.jnt_actfrclimited[j] and mj.jnt_type[j] in (SLIDE, HINGE):
            yield equipment.ForceRange(name, *_floats(mj.jnt_actfrcrange[j]))


# Keyframes --------------------------------------------------------------------------------------------------------


def _keyframes(place: Layout, notes: Notes) -> Iterator[equipment.Keyframe]:
    """The file's keyframes, and "initial", MuJoCo's qpos0, unless that is the neutral position."""
    mj, names = place.mj, Names()
    named, actuators = names_of(mj, "key", mj.nkey, names), names_of(mj, "actuator", len(mj.actuator_trntype))
    for k, name in enumerate(named):
        yield equipment.Keyframe(
            name,
            _positions(place, mj.key_qpos[k]),
            _velocities(place, mj.key_qpos[k], mj.key_qvel[k]),
            **_commands(mj, k, actuators),
        )
        unread = {"time": mj.key_time[k]}
        if mj.nmocap:
            unread["mocap poses"] = mj.key_mpos[k]
        if others := [what for what, values in unread.items() if np.any(values)]:
            kept = "positions, velocities, controls and activations"
            message = f"keyframe '{name}': {', '.join(others)} ignored, a keyframe has {kept}"
            notes.info(("key", name), message)
    start = _positions(place, mj.qpos0)
    if any(x != _neutral(len(x)) for x in start.values()):
        name = INITIAL if INITIAL not in named else names.new("qpos0")
        notes.info(None, f"keyframe '{name}' is the position in which the file shows it (qpos0)")
        yield equipment.Keyframe(name, start)


def _commands(mj, key: int, actuators: list[str]) -> dict[str, dict[str, tuple]]:
    """Controls and activations of a keyframe that are not zero, by actuators."""
    one = np.ones(len(actuators), dtype=int)  # before MuJoCo 4 each had one control
    found = {}
    for what, values, first, count in (
        ("controls", mj.key_ctrl[key], getattr(mj, "actuator_ctrladr", np.arange(len(one))),
         getattr(mj, "actuator_ctrlnum", one)),
        ("activations", mj.key_act[key], mj.actuator_actadr, mj.actuator_actnum),
    ):  # fmt: skip
        parts = ((name, values[first[n] : first[n] + count[n]]) for n, name in enumerate(actuators) if count[n])
        found[what] = {name: _floats(part) for name, part in parts if np.any(part)}
    return found


def _neutral(size: int) -> tuple[float, ...]:
    return {7: (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), 4: (1.0, 0.0, 0.0, 0.0)}.get(size, (0.0,))


def _positions(place: Layout, qpos) -> dict[str, tuple[float, ...]]:
    found, mj = {}, place.mj
    if place.freed is not None:
        found[place.base_joint] = _floats(mj.body_pos[place.freed]) + _floats(mj.body_quat[place.freed])
    for j, name in enumerate(place.joints):
        if name is not None:
            x = np.array(qpos[place.positions(j)], dtype=float)
            if mj.jnt_type[j] in (FREE, BALL):
                x[-4:] /= np.linalg.norm(x[-4:])
            found[name] = _floats(x)
    return found


def _velocities(place: Layout, qpos, qvel) -> dict[str, tuple[float, ...]]:
    """A free joint's velocity is (linear in the world's axes, angular) there, (angular, linear) in the body's here."""
    found = {}
    for j, name in enumerate(place.joints):
        v = np.array(qvel[place.dofs(j)], dtype=float)
        if name is None or not v.any():
            continue
        if place.mj.jnt_type[j] == FREE:
            R = rotation_of_quaternion(qpos[place.positions(j)][3:])
            v = np.concatenate([v[3:], R.T @ v[:3]])
        found[name] = _floats(v)
    return found


# The report -------------------------------------------------------------------------------------------------------


def _report(made: equipment.Equipment, notes: Notes) -> None:
    """One entry for each kind of equipment that the dynamics do not compute, and for actuators alike."""
    held = equality_constraints(made, ())
    exact = [c for c in (*made.loops, *held) if c.active]
    if exact:
        count = "1 equality is" if len(exact) == 1 else f"{len(exact)} equalities are"
        message = f"{count} exact here, MuJoCo holds them softly: {listed([c.name for c in exact])}"
        notes.info(("equality", exact[0].name), message)
    acting = [c for c in made.equalities if isinstance(c, equipment.Equality) and c.active and c not in held]
    acting += [tendon for tendon in made.tendons if tendon.not_computed]
    for kind, (element, one, several) in _KINDS.items():
        pieces = [piece for piece in acting if isinstance(piece, kind)]
        names = [piece.name for piece in pieces]
        if names:
            count = f"1 {one} is" if len(names) == 1 else f"{len(names)} {several} are"
            notes.warning((element, names[0]), f"{count} not computed, {_REFUSED}: {listed(names)}", _CODE)
    for what, kind, law in (
        ("dry friction", "dry friction", "Coulomb's law, rounded off near rest"),
        ("limits", "limit", "springs with dampers beyond"),
    ):
        names = [tendon.name for tendon in made.tendons if kind in tendon.forces and not tendon.not_computed]
        if names:
            count = "1 tendon has" if len(names) == 1 else f"{len(names)} tendons have"
            message = f"{count} {what}: here {law}; in MuJoCo soft constraints: {listed(names)}"
            notes.info(("tendon", names[0]), message)
    _report_actuators(made, notes)


def _report_actuators(made: equipment.Equipment, notes: Notes) -> None:
    """One entry for those computed, one for those switched off, one for each part of a law that is not computed."""
    computed, groups = set(map(id, made.computed_actuators)), {}
    for a in made.actuators:
        kind = "off" if not a.active else "computed" if id(a) in computed else (a.not_computed, a.forces)
        groups.setdefault(kind, []).append(a)
    for kind, group in groups.items():
        names, (s, single) = [a.name for a in group], ("", "s") if len(group) == 1 else ("s", "")
        at = "actuator", names[0]
        count = f"{len(names)} {'motor' if all(a.is_motor for a in group) else 'actuator'}{s}"
        if kind == "off":
            notes.info(at, f"{count} switched off by the file: {listed(names)}")
        elif kind == "computed":
            their = "whose control is an input" if single else "whose controls are inputs"
            notes.info(at, f"{count}, {their} of the dynamics by name: {listed(names)}")
        elif kind[1]:
            law = kind[0] or "a tendon around shapes"
            message = f"{count} exert{single} forces that are not computed ({law}), {_REFUSED}: {listed(names)}"
            notes.warning(at, message, _CODE)
        else:
            law = f" ({kind[0]})" if kind[0] else ""
            message = f"{count} not computed{law}, which exert{single} nothing without a control: kept as data"
            notes.info(at, f"{message}: {listed(names)}")


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(map(float, values))


def _trimmed(values: np.ndarray) -> tuple[float, ...]:
    """Numbers without trailing zeros."""
    kept = np.flatnonzero(values)
    return _floats(values[: kept[-1] + 1]) if kept.size else ()
