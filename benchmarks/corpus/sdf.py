"""An SDF file against the same tree built by hand in Pinocchio.

No other engine here reads SDF, so this module reads the raw XML its own way, without any of kinetree's code, and hands
Pinocchio masses, placements and axes one joint at a time. Only the choice of the spanning tree, where a mechanism has
loops, is taken from the loaded model: it is no property of the file. Loops stay open.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np

from benchmarks.corpus.catalog import File
from benchmarks.corpus.loading import load
from benchmarks.corpus.measure import compare
from benchmarks.corpus.urdf import sizes, verdict

RIVAL = "Pinocchio, built from the XML"


class NotRead(Exception):
    """Something that this small reader does not know."""


def examine(kt, file: File, compiled: bool = False) -> dict[str, object]:
    """The row of an SDF file."""
    loaded = load(kt, file.path)
    if loaded.model is None:
        return {"verdict": "refused", "reason": loaded.refusal, "rivals_say": "no other engine here reads SDF"}
    model = loaded.model
    row = {"options": loaded.options, "refusal": loaded.refusal, "load_seconds": loaded.seconds, **sizes(model)}

    from tests.engines.pinocchio_bridge import Bridge

    try:
        rival = Bridge(model, pinocchio_of(file.path, [model.joint_name(i) for i in model.outward()]))
    except NotRead as error:
        return {**row, "verdict": "loads, no rival", "reason": str(error)}
    except (KeyError, ValueError) as error:
        return {**row, "verdict": "disagrees", "rival": RIVAL, "reason": str(error)}
    errors = compare(kt, model, rival, compiled)
    reason = "loops open" if model.loops else ""
    return {
        **row,
        "rival": RIVAL,
        "errors": errors._asdict(),
        "verdict": verdict(errors, model.nv),
        "reason": reason,
    }


def pinocchio_of(path, in_tree: Iterable[str]):
    """Pinocchio's model of the tree of an SDF file whose moving joints have these names.

    Parameters
    ----------
    path : path
    in_tree : iterable of str
        Names of moving joints that belong to the tree; a root that moves freely is always one.
    """
    import pinocchio as pin

    result = pin.Model()
    root = ET.parse(path).getroot()
    version = tuple(int(part) for part in root.get("version").split("."))
    if (world := root.find("world")) is not None:
        gravity = world.findtext("gravity") or "0 0 -9.8"  # the format's default
        result.gravity.linear = np.array([float(x) for x in gravity.split()])
    for sdf_model in root.iter("model"):
        _Tree(result, sdf_model, version, set(in_tree)).build()
    return result


class _Tree:
    """The links of one <model>, attached to Pinocchio's model each after its parent."""

    def __init__(self, result, sdf_model, version, in_tree) -> None:
        import pinocchio as pin

        self.pin, self.result, self.version = pin, result, version
        self.pose = _pose(sdf_model)
        self.links = {link.get("name"): link for link in sdf_model.findall("link")}
        self.place = {name: self.pose * _pose(link) for name, link in self.links.items()}  # in the world, at rest
        self.static = (sdf_model.findtext("static") or "0").strip() in ("1", "true")
        self.carried: dict[str, ET.Element] = {}  # by link: the joint that carries it
        for joint in sdf_model.findall("joint"):
            child = joint.findtext("child").strip()
            if joint.get("name") in in_tree or (joint.get("type") == "fixed" and child not in self.carried):
                self.carried[child] = joint
        # By link: the number of Pinocchio's joint that moves it, and where that joint's frame is at rest.
        self.host: dict[str, tuple[int, object]] = {"world": (0, pin.SE3.Identity())}

    def build(self) -> None:
        """Attach the links depth first, as Pinocchio's algorithms demand."""
        below: dict[str, list[str]] = {}
        for name in self.links:
            below.setdefault(self._parent(name), []).append(name)
        waiting = below.pop("world", [])[::-1]
        while waiting:
            name = waiting.pop()
            self.host[name] = number, frame = self._host(name)
            inertia = _inertia(self.pin, self.links[name])
            self.result.appendBodyToJoint(number, inertia, frame.inverse() * self.place[name])
            waiting += below.pop(name, [])[::-1]
        if below:
            raise NotRead(f"links without a way to the world: {', '.join(sum(below.values(), []))}")

    def _parent(self, name: str) -> str:
        joint = self.carried.get(name)
        return "world" if joint is None else joint.findtext("parent").strip()

    def _host(self, name: str):
        """The joint that moves a link, made now if it is the link's own, and where its frame is at rest."""
        pin, joint = self.pin, self.carried.get(name)
        if joint is None and self.static:
            return self.host["world"]
        if joint is None:
            kind = pin.JointModelFreeFlyer()
            return self.result.addJoint(0, kind, pin.SE3.Identity(), f"free:{name}"), self.place[name]
        number, frame = self.host[self._parent(name)]
        if joint.get("type") == "fixed":
            return number, frame
        here = self.place[name] * _pose(joint)
        kind = _joint(pin, joint, self.pose, here, self.version)
        return self.result.addJoint(number, kind, frame.inverse() * here, joint.get("name")), here


def _joint(pin, joint, model_pose, here, version):
    kind = joint.get("type")
    if kind == "ball":
        return pin.JointModelSpherical()
    if kind not in ("revolute", "continuous", "prismatic"):
        raise NotRead(f"the cross-check does not know joints of type {kind!r}")
    axis = np.array([float(x) for x in joint.findtext("axis/xyz").split()])
    if version < (1, 5) or (joint.findtext("axis/use_parent_model_frame") or "0").strip() in ("1", "true"):
        axis = here.rotation.T @ model_pose.rotation @ axis
    axis /= np.linalg.norm(axis)
    return (pin.JointModelPrismaticUnaligned if kind == "prismatic" else pin.JointModelRevoluteUnaligned)(axis)


def _inertia(pin, link):
    inertial = link.find("inertial")
    if inertial is None:
        return pin.Inertia(1.0, np.zeros(3), np.eye(3))  # the format's default
    pose = _pose(inertial)
    xx, xy, xz, yy, yz, zz = (
        float(inertial.findtext(f"inertia/{name}") or default)
        for name, default in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1, 0, 0, 1, 0, 1), strict=True)
    )
    I = pose.rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.rotation.T
    return pin.Inertia(float(inertial.findtext("mass") or 1.0), pose.translation, I)


def _pose(element):
    import pinocchio as pin

    found = element.find("pose")
    if found is None or not (found.text or "").strip():
        return pin.SE3.Identity()
    if found.get("relative_to") or found.get("frame"):
        raise NotRead("the cross-check does not follow poses relative to named frames")
    numbers = np.array([float(x) for x in found.text.split()])
    return pin.SE3(pin.rpy.rpyToMatrix(*numbers[3:]), numbers[:3])
