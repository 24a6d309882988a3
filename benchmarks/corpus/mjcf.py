"""An MJCF file against MuJoCo's own numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np

from benchmarks.corpus.catalog import File, included_by
from benchmarks.corpus.loading import load, relative_to
from benchmarks.corpus.measure import SEED, STATES, TOLERANCE, compare, random_states, relative
from benchmarks.corpus.urdf import sizes, verdict


def examine(kt, file: File, compiled: bool = False) -> dict[str, object]:
    """The row of an MJCF file."""
    import mujoco

    path = file.path
    try:
        with _quiet():
            theirs, complaint = mujoco.MjModel.from_xml_path(str(path)), ""
    except Exception as error:  # MuJoCo raises ValueError and its own FatalError
        theirs, complaint = None, relative_to(str(error), path)
    if theirs is None and (reason := _no_model(file)):
        return {"verdict": "not a model", "reason": f"{reason}; MuJoCo: {complaint}"}
    loaded = load(kt, path)
    if loaded.model is None:
        if theirs is not None and theirs.nbody == 1:
            return {"verdict": "not a model", "reason": f"no bodies{_included(file)}; {loaded.refusal}"}
        said = f"MuJoCo: {complaint}" if complaint else "MuJoCo reads it"
        return {"verdict": "refused", "reason": loaded.refusal, "rivals_say": said}
    model = loaded.model
    row = {"options": loaded.options, "refusal": loaded.refusal, "load_seconds": loaded.seconds, **sizes(model)}
    if theirs is None:
        return {**row, "verdict": "loads, no rival", "reason": f"MuJoCo: {complaint}"}
    if "unsupported" in loaded.options:
        _drop(theirs)
    with _quiet():
        return {**row, **_compared(kt, model, theirs, compiled)}


def _compared(kt, model, theirs, compiled: bool) -> dict[str, object]:
    """What the comparison adds to the row."""
    from tests.engines.mujoco_bridge import MujocoBridge

    try:
        bridge = MujocoBridge(model, theirs, by_order=True)
    except (KeyError, ValueError) as error:
        return {"verdict": "disagrees", "rival": "MuJoCo", "reason": str(error)}
    errors, reason = compare(kt, model, bridge, compiled), ""
    if errors.singular:
        reason = "M is singular: no accelerations"
    elif not errors.agree and (offset := _ignored_offset(theirs)):
        model = _centered(model, bridge, theirs)
        errors = compare(kt, model, bridge, compiled)
        reason = f"once centers of mass up to {offset:.0e} m off are at the origin, as in MuJoCo (body_sameframe)"
    row = {"rival": "MuJoCo", "errors": errors._asdict(), "verdict": verdict(errors, model.nv), "reason": reason}
    if model.nv and not errors.singular:
        row |= _complete(kt, model, bridge, compiled)
        if row["verdict"] == "agrees" and not max(row.get("passive", 0.0), row.get("complete", 0.0)) <= TOLERANCE:
            row |= {"verdict": "disagrees", "reason": "springs and dampers differ"}
    return row


@contextmanager
def _quiet():
    """MuJoCo's warnings go nowhere: without a handler they go to the terminal and to a file in the working folder."""
    import mujoco

    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def _no_model(file: File) -> str:
    """Why a file that MuJoCo refuses was never meant to be a model; empty if it was."""
    try:
        root = ET.fromstring(file.path.read_bytes())
    except ET.ParseError:
        return ""
    if root.tag != "mujoco":
        return f"its root element is <{root.tag}>"
    return "no bodies" + _included(file) if root.find("worldbody//body") is None and _included(file) else ""


def _included(file: File) -> str:
    includer = included_by(file.corpus).get(file.name)
    return f", a part that {includer} includes" if includer else ""


def _drop(theirs) -> None:
    """Take out of MuJoCo's model what unsupported="drop" leaves out, beside fluid and gravity compensation."""
    import mujoco

    for j in np.flatnonzero(theirs.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        k = theirs.jnt_dofadr[j]
        theirs.dof_armature[k : k + 6] = theirs.dof_damping[k : k + 6] = 0.0


def _ignored_offset(theirs) -> float:
    """The largest distance of a center of mass from its body's origin that MuJoCo takes for zero [m]."""
    return float(np.abs(theirs.body_ipos[_at_origin(theirs)]).max(initial=0.0))


def _at_origin(theirs) -> np.ndarray:
    """Which bodies have their inertial frame at their own, as MuJoCo sees it."""
    import mujoco

    return theirs.body_sameframe == mujoco.mjtSameFrame.mjSAMEFRAME_BODY


def _centered(model, bridge, theirs):
    """The model with the centers of mass that MuJoCo takes to be at the origins of their bodies."""
    from kinetree.spatial import Inertia, Vector3

    inertias, at_origin = list(model.I), _at_origin(theirs)
    moving = [i for i in model.outward() if model.joints[i].nv]
    for i, body in zip(moving, theirs.jnt_bodyid, strict=True):
        if at_origin[body]:
            inertias[i] = Inertia(inertias[i].m, Vector3.zero(), inertias[i].I)
    return model.replace(I=inertias)


def _complete(kt, model, bridge, compiled: bool) -> dict[str, object]:
    """Springs and dampers too: the complete forward dynamics, where kinetree computes all that the model holds."""
    model = model.without_unsupported("loops", "equalities", "actuators")  # which are switched off there
    if model.unsupported:
        return {"complete_reason": f"holds {len(model.unsupported)} tendons with forces"}
    # Dry friction and limits are constraints in MuJoCo, another law, and switched off there; so is inertia of tendons.
    none = {"dry_friction": 0.0, "armature": 0.0, "lower": -np.inf, "upper": np.inf}
    tendons = tuple(replace(tendon, **none) for tendon in model.tendons)
    model = model.replace(dry_friction=0.0, equipment=replace(model.equipment, tendons=tendons)).without_limits()
    q, v, a = random_states(model, np.random.default_rng(SEED + 1))
    if model.couplings:
        q, v = kt.kinematics.apply_couplings(model, q, v)
    G = _coupled(model)
    taus = np.array([bridge.crba(q[n]) @ a[n] + bridge.bias(q[n], v[n]) for n in range(STATES)])
    try:
        with nullcontext() if compiled else kt.interpreted():
            passive, found = kt.dynamics.passive_joint_forces(model, q, v), kt.forward_dynamics(model, q, v, taus)
    except kt.errors.KinetreeError as error:
        return {"complete_reason": str(error)}
    worst = np.zeros(2)
    for n in range(STATES):
        M, theirs = bridge.crba(q[n]), bridge.passive(q[n], v[n])
        D = np.sqrt(np.abs(np.diag(M)))
        force = taus[n] + theirs - bridge.bias(q[n], v[n])
        expected = bridge.forward_dynamics(q[n], v[n], taus[n])
        if model.couplings:  # MuJoCo holds them softly; its numbers are projected onto them
            expected = G @ np.linalg.solve(G.T @ M @ G, G.T @ force)
        residual = G.T @ ((M @ found[n] - force) / D)
        size = (np.abs(M) @ np.abs(found[n]) + np.abs(taus[n]) + np.abs(theirs)) / D
        errors = relative(D * (found[n] - expected), D * expected), relative(residual, size)
        spring = relative((passive[n] - theirs) / D, theirs / D, least=D.min())
        worst = np.maximum(worst, [spring, np.minimum(*errors)])
    return {"passive": float(worst[0]), "complete": float(worst[1])}


def _coupled(model) -> np.ndarray:
    """The matrix G of v = G y, where y are the velocities that no coupling gives."""
    G = np.eye(model.nv)
    followers = []
    for c in model.couplings:
        (k,), (m,) = range(model.nv)[model.v_index(c.joint)], range(model.nv)[model.v_index(c.master)]
        G[k] = c.ratio * G[m]
        followers.append(k)
    return np.delete(G, followers, axis=1)
