"""A URDF file against Pinocchio; where Pinocchio refuses it, against MuJoCo."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from benchmarks.corpus.catalog import File
from benchmarks.corpus.loading import Loaded, load, relative_to
from benchmarks.corpus.measure import Errors, compare


def examine(kt, file: File, compiled: bool = False) -> dict[str, object]:
    """The row of a URDF file: welded to the world, and free where its root is a body."""
    path = file.path
    welded = load(kt, path)
    if welded.model is None:
        return {"verdict": "refused", "reason": welded.refusal, "rivals_say": _rivals_say(path)}
    models = {"welded": (welded, False)}
    notes: list[str] = []
    if _can_float(path):
        floating = load(kt, path, floating_base=True)
        if floating.model is not None:
            models["free"] = (floating, True)
        else:
            notes.append(f"a free base is refused: {floating.refusal}")
    largest: Loaded = list(models.values())[-1][0]
    row: dict[str, object] = {
        "base": list(models),
        "options": {**welded.options, **largest.options},
        "refusal": welded.refusal,
        "load_seconds": welded.seconds,
        **sizes(largest.model),
    }
    worst: Errors | None = None
    for loaded, floating in models.values():
        try:
            rival, refusals = _rival(path, loaded, floating)
        except NoRival as error:
            return {**row, "verdict": "loads, no rival", "reason": str(error)}
        errors = compare(kt, loaded.model, rival, compiled)
        if errors.singular:
            notes.append(f"M is singular{' with a free base' if floating else ''}: no accelerations")
        notes += [text for text in refusals if text not in notes]
        worst = errors if worst is None else worst.worse(errors)
        row["rival"] = rival.name
    return {
        **row,
        "errors": worst._asdict(),
        "verdict": verdict(worst, row["nv"]),
        "reason": "; ".join(notes),
    }


def sizes(model) -> dict[str, object]:
    """Counts of what a model holds."""
    return {
        "nq": model.nq,
        "nv": model.nv,
        "bodies": model.nb - 1,
        "loops": len(model.loops),
        "equalities": len(model.equalities) + len(model.couplings),
        "tendons": len(model.tendons),
        "actuators": len(model.actuators),
    }


def verdict(errors: Errors, nv: int) -> str:
    """What the comparison says."""
    if nv == 0:
        return "loads, nothing moves"
    return "agrees" if errors.agree else "disagrees"


class NoRival(Exception):
    """No engine here reads this file."""


def _can_float(path) -> bool:
    """Whether the root link is a body of the robot: not the world itself, nor a joint's way to it."""
    robot = ET.fromstring(_mended(path.read_bytes()))
    children = {joint.find("child").get("link") for joint in robot.iter("joint") if joint.find("child") is not None}
    roots = [link for link in robot.findall("link") if link.get("name") not in children]
    return len(roots) == 1 and roots[0].get("name") != "world"


def _mended(text: bytes) -> bytes:
    """The text without its XML declaration: some state a version 0.0, which strict parsers refuse."""
    return text.partition(b"?>")[2] if text.lstrip().startswith(b"<?xml") else text


def _rival(path, loaded: Loaded, floating: bool):
    """The first engine that reads the file the same way, and what the others before it said."""
    refusals = []
    for build in (_pinocchio, _mujoco):
        try:
            return build(path, loaded, floating), refusals
        except Exception as error:  # engines raise what they like
            refusals.append(f"{build.__name__[1:]}: {relative_to(str(error), path)}")
    raise NoRival("; ".join(refusals))


def _pinocchio(path, loaded: Loaded, floating: bool):
    import pinocchio as pin

    from tests.engines.pinocchio_bridge import Bridge, pinocchio_model

    theirs = pinocchio_model(path, floating)
    if loaded.options.get("massless") == "lock":
        moving = {loaded.model.joint_name(i) for i in loaded.model.outward()}
        locked = [theirs.getJointId(name) for name in list(theirs.names)[1:] if name not in moving]
        if floating:
            locked = [j for j in locked if j != 1]
        theirs = pin.buildReducedModel(theirs, locked, pin.neutral(theirs))
    return Bridge(loaded.model, theirs)


def _mujoco(path, loaded: Loaded, floating: bool):
    from tests.engines.mujoco_bridge import MujocoBridge, mujoco_model

    return MujocoBridge(loaded.model, mujoco_model(_mended(path.read_bytes()).decode(), floating))


def _rivals_say(path) -> str:
    """What other engines make of a file that kinetree refuses."""
    said = []
    for name, read in (("Pinocchio", _read_by_pinocchio), ("MuJoCo", _read_by_mujoco)):
        try:
            said.append(f"{name} {read(path)}")
        except Exception as error:  # engines raise what they like
            said.append(f"{name}: {relative_to(str(error), path)[:120]}")
    return "; ".join(said)


def _read_by_pinocchio(path) -> str:
    from tests.engines.pinocchio_bridge import pinocchio_model

    pinocchio_model(path)
    return "reads it"


def _read_by_mujoco(path) -> str:
    import mujoco

    from tests.engines.mujoco_bridge import mujoco_model

    text = path.read_text()
    try:
        theirs = mujoco_model(_mended(text.encode()).decode())
    except ET.ParseError:
        theirs = mujoco.MjModel.from_xml_string(text)
    return "reads it" if theirs.nbody > 1 else "reads it as an empty world"
