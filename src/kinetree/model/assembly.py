"""From the bodies of a `ModelBuilder` to a Model: numbers the bodies, merges fixed ones, and gathers the arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.collision.pair import ContactPair
from kinetree.constraints import Constraint, LoopJoint
from kinetree.errors import ModelError, TopologyError, unknown_name
from kinetree.forces.registry import PARAMETERS
from kinetree.joints import Joint
from kinetree.model.gears import placed_gears
from kinetree.model.loop_joints import CLOSED, misfit
from kinetree.model.model import Model
from kinetree.model.parts import Frame, Geometry, pose_of_transform
from kinetree.model.topology import regular_order
from kinetree.spatial import Inertia, Transform

if TYPE_CHECKING:
    from kinetree.model.builder import ModelBuilder

WORLD = "world"
JOINT_DATA = ("armature", *PARAMETERS, "lower", "upper", "velocity_limit", "effort_limit")


@dataclass(slots=True)
class AddedBody:
    """A body as it was added."""

    name: str
    parent: str
    joint: Joint
    joint_name: str
    X: Transform
    inertia: Inertia
    data: dict[str, object]
    geometry: list[Geometry] = field(default_factory=list)


class Assembly:
    """One run of ``build``: numbers the bodies, merges fixed ones, and gathers the arrays."""

    def __init__(self, builder: ModelBuilder, merge_fixed: bool) -> None:
        self.builder = builder
        self.bodies = builder._bodies
        for body in self.bodies.values():
            if body.parent != WORLD and body.parent not in self.bodies:
                hint = unknown_name("body", body.parent, [WORLD, *self.bodies], f"model {builder.name!r}")
                message = f"body {body.name!r} has an unknown parent: {hint}"
                raise TopologyError(message, body=body.name, parent=body.parent)
        order = regular_order({body.name: body.parent for body in self.bodies.values()}, WORLD)
        # Of every body: the body of the model that includes it, and the transform from there.
        self.host: dict[str, tuple[str, Transform]] = {WORLD: (WORLD, Transform.identity())}
        self.welded: dict[str, str] = {}
        for name in order:
            body = self.bodies[name]
            if merge_fixed and body.joint.rigid:
                if body.data:
                    raise ModelError(
                        f"joint {body.joint_name!r} of body {name!r} is fixed, so it has no {', '.join(body.data)}; "
                        "remove them"
                    )
                parent, X_parent = self.host[body.parent]
                self.host[name] = (parent, body.joint.transform(()) @ body.X @ X_parent)
                self.welded[body.joint_name] = name
            else:
                self.host[name] = (name, Transform.identity())
        self.order = order
        self.kept = [WORLD, *(name for name in order if self.host[name][0] == name)]
        self.number = {name: i for i, name in enumerate(self.kept)}

    def model(self) -> Model:
        """Gather everything by body number."""
        builder, kept = self.builder, [self.bodies[name] for name in self.kept[1:]]
        I = [builder._world_inertia, *(Inertia.zero() for _ in kept)]
        geometry: list[list[Geometry]] = [list(builder._world_geometry), *([] for _ in kept)]
        frames = []
        for name in self.order:
            body, (host, X) = self.bodies[name], self.host[name]
            i = self.number[host]
            I[i] = I[i] + X.inverse_apply(body.inertia)
            geometry[i] += body.geometry if host == name else [shape.seen_from(X, name) for shape in body.geometry]
            if host != name and name not in builder._frames:
                frames.append(Frame(name, i, *pose_of_transform(X)))
        for name, (on, X_FB) in builder._frames.items():
            if on not in self.host:
                raise unknown_name("body", on, self.host, f"model {builder.name!r} (frame {name!r})")
            host, X = self.host[on]
            frames.append(Frame(name, self.number[host], *pose_of_transform(X_FB @ X)))
        equipment = replace(builder.equipment, loops=tuple(self._loops()))  # which adds to the report
        hosts = [self.host[body.parent] for body in kept]
        number = {body.joint_name: i for i, body in enumerate(kept, start=1)}
        return Model(
            name=builder.name,
            body_names=self.kept,
            joint_names=[body.joint_name for body in kept],
            parent=[-1, *(self.number[host] for host, _ in hosts)],
            joints=[None, *(body.joint for body in kept)],
            X_T=[Transform.identity(), *(body.X @ X for body, (_, X) in zip(kept, hosts, strict=True))],
            I=I,
            gravity=builder.gravity,
            frames=frames,
            constraints=self._constraints(),
            forces=builder._forces,
            contacts=list(self._contacts()),
            **placed_gears(builder, number, self.welded, self.host, self.number),
            geometry=geometry,
            equipment=equipment,
            report=builder.report,
            source=builder.source,
            source_options=builder.source_options,
            welded={**builder._welded, **self.welded},
            accept_impossible_inertia=builder.accept_impossible_inertia,
            **{what: self._gathered(what, kept) for what in JOINT_DATA},
        )

    def _loops(self) -> Iterator[LoopJoint]:
        """The loop joints, but for closed ones between parts of one body, which fixed joints connect."""
        for loop in self.builder.equipment.loops:
            ends = [self._place(name) for name in loop.frames]
            if not loop.has_rows or None in ends or ends[0][1] != ends[1][1] or ends[0][0] == ends[1][0]:
                yield loop
                continue
            gap, unit = misfit(loop, *(X for *_, X in ends))
            between = f"{loop} is between parts of one body, since fixed joints connect them"
            if gap > CLOSED:
                raise ModelError(
                    f"model {self.builder.name!r}: {between}, and it is open by {gap:.3g} {unit}. Take it out, or "
                    "give one of them a joint that moves",
                    loop=loop.name,
                )
            self.builder.note("info", str(loop), "is between parts of one body, which fixed joints connect: left out")

    def _contacts(self) -> Iterator[ContactPair]:
        """The contact pairs, but for those between parts of one body, which fixed joints connect."""
        for pair in self.builder._contacts:
            hosts = [place and place[1] for place in map(self._place, pair.frames)]
            if None in hosts or hosts[0] != hosts[1]:
                yield pair
            else:
                message = "is between parts of one body, which fixed joints connect: left out"
                self.builder.note("info", str(pair), message)

    def _place(self, frame: str) -> tuple[str, str, Transform] | None:
        """The body that carries a frame, the one that it is merged into, and the transform from there."""
        on, X_FB = self.builder._frames.get(frame, (frame, Transform.identity()))
        if on not in self.host:
            return None
        host, X = self.host[on]
        return on, host, X_FB @ X

    def _gathered(self, what: str, kept: Sequence[AddedBody]) -> Mapping[str, np.ndarray]:
        return {body.joint_name: body.data[what] for body in kept if what in body.data}

    def _constraints(self) -> list[Constraint]:
        for c in self.builder._constraints:
            for name in c.joints:
                if name in self.welded:
                    raise ModelError(f"{c}: joint {name!r} is fixed", joint=name)
        return self.builder._constraints
