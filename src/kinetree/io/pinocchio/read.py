"""``load_pinocchio``: a Model from a ``pinocchio.Model``."""

from __future__ import annotations

import sys

import numpy as np

from kinetree.arguments import a_name, checked, of_kind
from kinetree.errors import UnsupportedError
from kinetree.forces.registry import names_in
from kinetree.io.free_names import Names
from kinetree.io.inertia_rules import settle
from kinetree.io.options import Options
from kinetree.io.pinocchio.joints import Part, joined, parts_of, position_from, positions_there, velocity_order
from kinetree.io.pinocchio.shapes import add_shapes
from kinetree.joints import Free
from kinetree.model import ModelBuilder
from kinetree.model.assembly import WORLD
from kinetree.model.equipment import Equipment, Keyframe

a_pinocchio_model = of_kind("pinocchio.Model", "names", "jointPlacements", "inertias", "idx_qs", "idx_vs")
_geometries = of_kind("pinocchio.GeometryModel", "geometryObjects")


@checked(source=a_pinocchio_model, name=a_name, visual=_geometries, collision=_geometries)
def load_pinocchio(
    source,
    *,
    name: str | None = None,
    visual=None,
    collision=None,
    unsupported: str = "raise",
    inertia: str = "raise",
):
    """Make a model of a ``pinocchio.Model``.

    Parameters
    ----------
    source : pinocchio.Model
    name : str
        Name of the model; default: the one in Pinocchio.
    visual, collision : pinocchio.GeometryModel
        Shapes to draw, and for contacts.
    unsupported : {"raise", "drop"}
        Treatment of content that a model does not support: refuse it, or leave it out and report it.
    inertia : {"raise", "project", "diagonal", "accept"}
        Treatment of an inertia that no body can have; see `load_urdf`.

    Returns
    -------
    Model
        Joints have their names and order of Pinocchio, a body has the name of the first body frame at its joint, or
        else that of the joint. A composite joint with placements between its parts becomes a chain of joints
        ``name.1``, ``name.2``, ...

    Raises
    ------
    UnsupportedError
        A joint or a shape is of a kind that kinetree does not have; the message names it.
    InertiaError
        An inertia is one that no body can have.

    Notes
    -----
    Armature, damping, dry friction, limits, frames, gravity and reference configurations (keyframes of the model) are
    taken over. `kinetree.conventions.Pinocchio` of both models converts states. Pinocchio's own algorithms leave out
    damping and friction, as `rnea` and `aba` here do.

    Examples
    --------
    >>> import kinetree as kt, pinocchio as pin
    >>> there = pin.Model()
    >>> joint = there.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "pivot")
    >>> there.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    >>> kt.io.load_pinocchio(there, name="ball").joint_names
    ('pivot',)
    """
    options = Options(name=name, unsupported=unsupported, inertia=inertia)
    options.check("load_pinocchio", base_is_free=False)
    return _Reader(source, options).build(visual, collision)


class _Reader:
    """One run of the reader."""

    def __init__(self, source, options: Options) -> None:
        self.source, self.options = source, options
        gravity = np.array(source.gravity.vector, dtype=float)
        if gravity[3:].any():
            raise UnsupportedError(f"gravity of the Pinocchio model is {gravity.tolist()}, expected zeros at the end")
        name = options.name or str(source.name) or "model"
        self.builder = ModelBuilder(name, gravity=gravity[:3].tolist(), accept_impossible_inertia=options.accept)
        self.lost: list[str] = []
        self.bodies = self._body_names()
        self.parts = [[], *(self._parts(j) for j in range(1, source.njoints))]

    def build(self, visual, collision):
        source, builder = self.source, self.builder
        for j in range(1, source.njoints):
            self._add_joint(j)
        self._add_frames()
        for shapes, role in ((visual, "visual"), (collision, "collision")):
            if shapes is not None:
                add_shapes(builder, shapes, role, self.bodies, self.lost)
        if source.inertias[0].mass:
            builder.note("info", "universe", "its inertia is left out: no dynamics depend on it")
        if self.lost and not self.options.drop:
            raise UnsupportedError(
                f"model {builder.name!r} of Pinocchio has {'; '.join(self.lost)}, which a model does not support. "
                "unsupported='drop' loads without it, and reports each.",
                features=tuple(self.lost),
            )
        for what in self.lost:
            builder.note("dropped", "", f"{what}: not supported, left out")
        builder.equipment += Equipment(keyframes=self._keyframes())
        return builder.build()

    def _body_names(self) -> list[str]:
        """Of each joint's body: the first body frame at the joint itself, else the joint's name."""
        found: dict[int, str] = {0: WORLD}
        for frame in self.source.frames:
            j, kind = int(frame.parentJoint), str(frame.type)
            if j and kind == "BODY" and j not in found and _is_identity(frame.placement) and frame.name != WORLD:
                found[j] = str(frame.name)
        names = Names(found.values())
        return [found.get(j) or names.new(str(self.source.names[j])) for j in range(self.source.njoints)]

    def _parts(self, j: int) -> list[Part]:
        return joined(parts_of(self.source.joints[j], str(self.source.names[j])))

    def _add_joint(self, j: int) -> None:
        source, builder = self.source, self.builder
        name, place = str(source.names[j]), source.jointPlacements[j]
        R, p = np.array(place.rotation), np.array(place.translation)
        parent, parts = self.bodies[source.parents[j]], self.parts[j]
        q, v = int(source.idx_qs[j]), int(source.idx_vs[j])
        mass, com, I = self._inertia(j)
        for k, (R_k, p_k, joint) in enumerate(parts, 1):
            last, chain = k == len(parts), len(parts) > 1
            body = self.bodies[j] if last else f"{self.bodies[j]}.{k}"
            own = {"mass": mass, "com": com, "inertia": I} if last else {}
            nq = positions_there(source.joints[j])[k - 1] if chain else int(source.nqs[j])
            builder.add_body(
                body, parent, joint, f"{name}.{k}" if chain else name, (R @ R_k, R @ p_k + p), **own,
                **self._numbers(name, joint, slice(q, q + nq), slice(v, v + joint.nv)),
            )  # fmt: skip
            parent, R, p, q, v = body, np.eye(3), np.zeros(3), q + nq, v + joint.nv

    def _inertia(self, j: int):
        there = self.source.inertias[j]
        name, mass, I = str(self.source.names[j]), float(there.mass), np.array(there.inertia, dtype=float)

        def fail(message: str, error: type, *, code: str, repair: str, **values) -> Exception:
            return error(f"{message}. {repair}.", code=code, repair=repair, **values)

        I, change = settle(mass, I, self.options.inertia, f"the body of joint {name!r}", fail)
        if change is not None:
            self.builder.note("warning", f"body {self.bodies[j]!r}", change)
        return mass, np.array(there.lever, dtype=float), I

    def _numbers(self, name: str, joint, q: slice, v: slice) -> dict[str, np.ndarray]:
        """Numbers of a joint by the names of the builder."""
        source, order = self.source, velocity_order(joint)
        found = {"armature": np.array(source.armature)[v][order], "damping": np.array(source.damping)[v][order]}
        for ours, kind in (
            (names_in("urdf")["friction"], "DryFrictionLimit"), ("velocity_limit", "VelocityLimit"),
            ("effort_limit", "EffortLimit"),
        ):  # fmt: skip
            upper, lower = (_unlimited(getattr(source, f"{side}{kind}", None), v) for side in ("upper", "lower"))
            if upper is None:  # before Pinocchio 4 there is one side
                older = {"DryFrictionLimit": "friction", "VelocityLimit": "velocityLimit"}.get(kind, "effortLimit")
                upper, lower = _unlimited(getattr(source, older), v), None
            # Of velocities the readers of Pinocchio give the upper limit twice.
            if lower is not None and kind != "VelocityLimit" and not np.array_equal(lower, -upper):
                self.lost.append(
                    f"{ours.replace('_', ' ')} of joint {name!r} from {lower.tolist()} to {upper.tolist()}"
                )
            found[ours] = upper[order]
        lower, upper = (_unlimited(getattr(source, f"{side}PositionLimit"), q) for side in ("lower", "upper"))
        if joint.nq == joint.nv == q.stop - q.start:
            found |= {"lower": lower, "upper": upper}
        elif np.isfinite(lower[:3]).any() and isinstance(joint, Free):
            self.lost.append(f"limits of the position of the free joint {name!r}")
        return found

    def _add_frames(self) -> None:
        source, builder = self.source, self.builder
        known = {WORLD, *self.bodies}
        known |= {f"{self.bodies[j]}.{k}" for j, row in enumerate(self.parts) for k in range(1, len(row))}
        for frame in source.frames:
            j, name, kind = int(frame.parentJoint), str(frame.name), str(frame.type)
            own = _is_identity(frame.placement)
            if kind == "JOINT" or name == "universe" or (own and name == self.bodies[j]):
                continue  # those of joints are those of their bodies
            if name in known:
                fresh = Names(known).new(name)
                builder.note(
                    "info", f"frame {name!r}", f"another frame has this name: {fresh!r} is that of type {kind}"
                )
                name = fresh
            known.add(name)
            place = frame.placement
            builder.add_frame(name, self.bodies[j], (np.array(place.rotation), np.array(place.translation)))

    def _keyframes(self) -> tuple[Keyframe, ...]:
        """The reference configurations."""
        source, found = self.source, []
        for entry in source.referenceConfigurations:
            q_there, values = np.array(entry.data(), dtype=float), {}
            for j in range(1, source.njoints):
                first, name = int(source.idx_qs[j]), str(source.names[j])
                q = position_from(source.joints[j], q_there[first : first + int(source.nqs[j])])
                parts = self.parts[j]
                ends = np.cumsum([joint.nq for *_, joint in parts])[:-1]
                for k, x in enumerate(np.split(q, ends), 1):
                    values[f"{name}.{k}" if len(parts) > 1 else name] = tuple(x.tolist())
            found.append(Keyframe(str(entry.key()), values))
        return tuple(found)


def _is_identity(place) -> bool:
    return bool(np.array_equal(place.rotation, np.eye(3)) and not np.array(place.translation).any())


def _unlimited(values, which: slice) -> np.ndarray | None:
    """The largest float means no limit."""
    if values is None:
        return None
    found = np.array(values, dtype=float)[which]
    return np.where(np.abs(found) >= sys.float_info.max, np.copysign(np.inf, found), found) + 0.0
