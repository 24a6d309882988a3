"""An MJCF file against MuJoCo's own numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ET

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
        theirs, complaint = mujoco.MjModel.from_xml_path(str(path)), ""
    except Exception as error:  # MuJoCo raises ValueError and its own FatalError
        theirs, complaint = None, relative_to(str(error), path)
    if theirs is None and (reason := _no_model(file)):
        return {"verdict": "not a model", "reason": f"{reason}; MuJoCo: {complaint}"}
    loaded = load(kt, path)
    if loaded.model is None:
        said = f"MuJoCo: {complaint}" if complaint else "MuJoCo reads it"
        return {"verdict": "refused", "reason": loaded.refusal, "rivals_say": said}
    model = loaded.model
    row = {"options": loaded.options, "refusal": loaded.refusal, "load_seconds": loaded.seconds, **sizes(model)}
    if theirs is None:
        return {**row, "verdict": "loads, no rival", "reason": f"MuJoCo: {complaint}"}

    from tests.engines.mujoco_bridge import MujocoBridge

    try:
        bridge = MujocoBridge(model, theirs, by_order=True)
    except ValueError as error:
        return {**row, "verdict": "disagrees", "rival": "MuJoCo", "reason": str(error)}
    errors = compare(kt, model, bridge, compiled)
    row |= {"rival": "MuJoCo", "errors": errors._asdict(), "verdict": verdict(errors, model.nv), "reason": ""}
    if model.nv:
        row |= _complete(kt, model, bridge, compiled)
        if row["verdict"] == "agrees" and not max(row.get("passive", 0.0), row.get("complete", 0.0)) <= TOLERANCE:
            row |= {"verdict": "disagrees", "reason": "springs and dampers differ"}
    return row


def _no_model(file: File) -> str:
    """Why a file that MuJoCo refuses was never meant to be a model; empty if it was."""
    try:
        root = ET.fromstring(file.path.read_bytes()).tag
    except ET.ParseError:
        return ""
    if root != "mujoco":
        return f"its root element is <{root}>"
    includer = included_by(file.corpus).get(file.name)
    return f"a part that {includer} includes" if includer else ""


def _complete(kt, model, bridge, compiled: bool) -> dict[str, object]:
    """Springs and dampers too: the complete forward dynamics, where kinetree computes all that the model holds."""
    if model.held:
        return {"complete_reason": f"holds {len(model.held)} loops, equalities or tendons with forces"}
    model = model.replace(dry_friction=0.0)  # MuJoCo's is a constraint, another law
    q, v, a = random_states(model, np.random.default_rng(SEED + 1))
    taus = np.array([bridge.crba(q[n]) @ a[n] + bridge.bias(q[n], v[n]) for n in range(STATES)])
    try:
        if compiled:
            passive, found = kt.passive_joint_forces(model, q, v), kt.forward_dynamics(model, q, v, taus)
        else:
            with kt.interpreted():
                passive, found = kt.passive_joint_forces(model, q, v), kt.forward_dynamics(model, q, v, taus)
    except kt.KinetreeError as error:
        return {"complete_reason": str(error)}
    worst = {"passive": 0.0, "complete": 0.0}
    for n in range(STATES):
        M = bridge.crba(q[n])
        D = np.sqrt(np.abs(np.diag(M)))
        theirs = bridge.passive(q[n], v[n])
        expected = bridge.forward_dynamics(q[n], v[n], taus[n])
        residual = M @ found[n] - (taus[n] + theirs - bridge.bias(q[n], v[n]))
        size = (np.abs(M) @ np.abs(found[n]) + np.abs(taus[n]) + np.abs(theirs)) / D
        acceleration = min(relative(D * (found[n] - expected), D * expected), relative(residual / D, size))
        worst["passive"] = max(worst["passive"], relative((passive[n] - theirs) / D, theirs / D, least=D.min()))
        worst["complete"] = max(worst["complete"], acceleration)
    return worst
