"""Effects of options, flags and drives of an MJCF model on its passive physics, and unsupported ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.io.mjcf.layout import FREE, HINGE, SLIDE, Layout
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.sources import Sources
from kinetree.io.xml.reader import Node

_JOINT_TRANSMISSIONS = (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
_TENDON_TRANSMISSION = 3
# The disable flags that switch each effect off, and its name in the report.
_SWITCHES = {
    "springs": ({"SPRING", "PASSIVE"}, "springs of joints and tendons are"),
    "dampers": ({"DAMPER", "PASSIVE"}, "damping of joints and tendons is"),
    "friction": ({"FRICTIONLOSS", "CONSTRAINT"}, "dry friction is"),
    "limits": ({"LIMIT", "CONSTRAINT"}, "limits of joints and tendons are"),
    "equalities": ({"EQUALITY", "CONSTRAINT"}, "equality constraints are"),
    "gravity": ({"GRAVITY"}, "gravity is"),
    "actuation": ({"ACTUATION"}, "actuators are"),
    "clamps_controls": ({"CLAMPCTRL"}, "ranges of controls are"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Physics:
    """Passive physics along the joints, after all flags; arrays in MuJoCo's order.

    Parameters
    ----------
    gravity : (3,) array
        [m/s^2].
    stiffness : (njnt,) array
        [N m/rad or N/m].
    damping, frictionloss, extra_armature : (nv,) array
        Of joints and, by the square of the gear, of the drives on them [N m s/rad or N s/m; N m or N; kg m^2 or kg].
    tendon_damping, tendon_armature : (ntendon,) array
        The same along tendons [N s/m; kg].
    springs, dampers, friction, limits, equalities, actuation, clamps_controls : bool
        Whether the flags leave each of these on.
    """

    gravity: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    frictionloss: np.ndarray
    extra_armature: np.ndarray
    tendon_damping: np.ndarray
    tendon_armature: np.ndarray
    springs: bool
    dampers: bool
    friction: bool
    limits: bool
    equalities: bool
    actuation: bool
    clamps_controls: bool


def physics_of(place: Layout, notes: Notes) -> Physics:
    """Read flags and options; effects that the file switches off are reported."""
    mj = place.mj
    off = _disabled(mj)
    on = {name: off.isdisjoint(flags) for name, (flags, _) in _SWITCHES.items()}
    for name, (_, what) in _SWITCHES.items():
        if not on[name]:
            notes.info(None, f"{what} switched off by a flag of the file, and so in the model")
    gravity = np.array(mj.opt.gravity) if on.pop("gravity") else np.zeros(3)
    (armature, damping), (tendon_armature, tendon_damping) = _reflected(place, notes)
    return Physics(
        gravity=gravity,
        stiffness=_linear(mj.jnt_stiffness) * on["springs"],
        damping=(_linear(mj.dof_damping) + damping) * on["dampers"],
        frictionloss=np.array(mj.dof_frictionloss) * on["friction"],
        extra_armature=armature,
        tendon_damping=(_linear(mj.tendon_damping) + tendon_damping) * on["dampers"],
        tendon_armature=np.array(getattr(mj, "tendon_armature", np.zeros(mj.ntendon))) + tendon_armature,
        **on,
    )


def _linear(values) -> np.ndarray:
    return np.array(values, dtype=float).reshape(len(values), -1)[:, 0] if len(values) else np.zeros(0)


def _disabled(mj) -> set[str]:
    """Names of the disable flags that are set, by the installed MuJoCo."""
    import mujoco

    bits = mujoco.mjtDisableBit.__members__.items()
    return {name.removeprefix("mjDSBL_") for name, bit in bits if int(mj.opt.disableflags) & int(bit)}


def _reflected(place: Layout, notes: Notes) -> tuple[np.ndarray, np.ndarray]:
    """Armature and damping that drives (MuJoCo 3.7 and later) give to the joint or tendon they act on: gear^2 times.

    Returns
    -------
    dofs : (2, nv) array
    tendons : (2, ntendon) array

    Notes
    -----
    Source: MuJoCo's XML reference, actuator/general armature and damping.
    """
    mj = place.mj
    dofs, tendons = np.zeros((2, mj.nv)), np.zeros((2, mj.ntendon))
    if not hasattr(mj, "actuator_armature"):
        return dofs, tendons
    outputs = getattr(mj, "actuator_outadr", np.arange(len(mj.actuator_armature)))
    own = np.array([_linear(mj.actuator_armature), _linear(mj.actuator_damping)])
    for k in np.flatnonzero(own.any(axis=0)):
        reflected = float(mj.actuator_gear[outputs[k], 0]) ** 2 * own[:, k]
        target, kind = int(mj.actuator_trnid[k, 0]), int(mj.actuator_trntype[k])
        if kind == _TENDON_TRANSMISSION:
            tendons[:, target] += reflected
        elif kind in _JOINT_TRANSMISSIONS and mj.jnt_type[target] in (SLIDE, HINGE):
            dofs[:, mj.jnt_dofadr[target]] += reflected
        else:
            name = mj.actuator(k).name or f"actuator_{k}"
            message = f"armature or damping of actuator '{name}', which acts on no joint of one freedom"
            notes.unsupported(("actuator", name), message)
    return dofs, tendons


def check_supported(place: Layout, physics: Physics, notes: Notes) -> None:
    """Report every kind of physics in the compiled model that our model does not support."""
    import mujoco

    mj, sources = place.mj, notes.sources
    for j, name in enumerate(place.joints):
        if name is None:
            continue
        at, dofs = ("joint", name), place.dofs(j)
        if mj.jnt_type[j] == FREE:
            along = f"of free joint '{name}', which in MuJoCo acts along the world's axes"
            for what, values in (
                ("armature", mj.dof_armature[dofs]),
                ("dry friction", physics.frictionloss[dofs]),
            ):
                if np.any(values):
                    notes.unsupported(at, f"{what} {along} (a default of joints? <freejoint/> takes none)")
        single = ("jnt", "dof") if mj.jnt_type[j] in (SLIDE, HINGE) else ()
        _check_laws(mj, "joint", name, {"jnt": j, "dof": dofs}, physics, notes, single)
    _report_soft(place, physics, notes)
    for t in range(mj.ntendon):
        _check_laws(mj, "tendon", mj.tendon(t).name or f"tendon_{t}", {"tendon": t}, physics, notes, ("tendon",))
    for k in range(len(mj.actuator_trntype)):
        _check_laws(mj, "actuator", mj.actuator(k).name or f"actuator_{k}", {"actuator": k}, physics, notes)
    if nflex := getattr(mj, "nflex", 0):
        notes.unsupported(_first(sources, ("flex", "flexcomp", "composite")), f"{nflex} deformable bodies (flex)")
    # Plugins that bodies refer to act on the motion by themselves.
    passive = sorted({int(k) for k in mj.body_plugin if k >= 0})
    names = [mujoco.mj_id2name(mj, mujoco.mjtObj.mjOBJ_PLUGIN, k) or f"plugin {k}" for k in passive]
    if names:
        notes.unsupported(_first(sources, ("plugin",)), f"forces of plugins: {', '.join(names)}")


def _report_soft(place: Layout, physics: Physics, notes: Notes) -> None:
    """Dry friction and limits act by laws of our own, where MuJoCo solves for soft constraints."""
    mj = place.mj
    rough = [j for j, name in enumerate(place.joints) if name and np.any(physics.frictionloss[place.dofs(j)])]
    bounded = [j for j, name in enumerate(place.joints)
               if name and physics.limits and mj.jnt_limited[j] and mj.jnt_type[j] in (SLIDE, HINGE)]  # fmt: skip
    early = [j for j in bounded if mj.jnt_margin[j] > 0.0]
    margin = f"limits with a margin up to {max(mj.jnt_margin[early], default=0.0):g}"
    for joints, what, law in (
        (rough, "dry friction", "here Coulomb's law, rounded off near rest; in MuJoCo a soft constraint"),
        (bounded, "limits", "here stops that a simulation adds, or none; in MuJoCo soft constraints"),
        (early, margin, "MuJoCo's push from that distance before the ends of the range, not here"),
    ):
        if joints:
            count = "1 joint has" if len(joints) == 1 else f"{len(joints)} joints have"
            notes.info(("joint", place.joints[joints[0]]), f"{count} {what}: {law}")


def higher(mj, law: str, k: int, on: bool) -> tuple[float, ...]:
    """Coefficients of higher order of a spring or damper of the file, which MuJoCo has since version 3.7."""
    found = [float(x) for x in np.ravel(getattr(mj, law)[k])] if on and hasattr(mj, law) else []
    return tuple(found) if any(found) else ()


def _check_laws(
    mj, kind: str, name: str, entries: dict[str, object], physics: Physics, notes: Notes, computed=()
) -> None:
    """Report laws that are not linear; ``entries``: those of the thing in arrays of these prefixes.

    Polynomials of those in ``computed`` are not among them.

    Only later versions of MuJoCo have these arrays.
    """
    for law, what, on in (
        ("stiffnesspoly", "a spring of higher order", physics.springs),
        ("springyield", "a spring that yields", physics.springs),
        ("dampingpoly", "damping of higher order", physics.dampers),
    ):
        for prefix, entry in entries.items():
            if law != "springyield" and prefix in computed:
                continue
            field = f"{prefix}_{law}"
            if on and hasattr(mj, field) and np.any(getattr(mj, field)[entry]):
                notes.unsupported((kind, name), f"{kind} '{name}' has {what}")


def _first(sources: Sources, tags: tuple[str, ...], attributes: tuple[str, ...] = ()) -> Node | None:
    """The first element with one of these tags, and with one of the attributes if there are any."""
    found = (node for node in sources.nodes() if node.tag in tags)
    return next((node for node in found if not attributes or any(map(node.has, attributes))), None)
