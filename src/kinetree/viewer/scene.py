"""What is drawn of a model: shapes with colors, and the poses of its bodies at many positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, array, choice, refuse
from kinetree.compiler.calls import plain_call
from kinetree.conventions.rotations import quaternion_of, rotation_matrix
from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.model.closing import usual_position
from kinetree.model.contact_filter import named_shapes
from kinetree.model.model import Model
from kinetree.viewer.part import Part, pose_matrix
from kinetree.viewer.stick_figure import stick_figure
from kinetree.viewer.surfaces import colored, surfaces_of
from kinetree.viewer.textures import WHITE, textured
from kinetree.viewer.triangles import Triangles, cut_at_edges, height_field, hollow_half

ROLES = ("visual", "collision", "stick")
GRAY = (0.72, 0.74, 0.77, 1.0)  # of shapes without a color
TOUCHING = (0.91, 0.55, 0.23, 0.55)  # of collision shapes
FLOOR = (0.86, 0.87, 0.88, 1.0)
AROUND_FLOOR = 2.5  # planes are drawn so many times as wide as the robot is large
_forward_kinematics = plain_call(ALGORITHMS["forward_kinematics"])


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Shapes of a model; immutable, so that threads share it.

    Attributes
    ----------
    model : Model
        In space: of a planar model the one that it was made of.
    parts : tuple of Part
        Shapes of the world first.
    notes : tuple of str
        Shapes that could not be read, and what is drawn instead.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> scene = Scene.of(arm)
    >>> len(scene.parts), scene.parts[0].kind
    (14, 'cylinder')
    >>> scene.poses(arm.neutral()).shape
    (1, 10, 7)
    """

    model: Model
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    _corners: dict = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model, role: str = "visual") -> Scene:
        """The scene of a model, made once.

        Parameters
        ----------
        model : Model
        role : {"visual", "collision", "stick"}
            Which shapes. Of a robot without visual shapes those for collision are drawn; a stick figure, of one
            without any and of bodies whose meshes are missing. Surfaces of contact that are no shapes of the model,
            such as the ground of a simulation, belong to all roles.

        Returns
        -------
        Scene
        """
        a_model("Scene.of: model", model)
        choice("Scene.of: role", role, ROLES)
        model = getattr(model, "spatial", model)
        found = model.functions.get(key := ("scene", role))
        return model.functions.setdefault(key, cls._made(model, role)) if found is None else found

    @classmethod
    def _made(cls, model, role: str) -> Scene:
        shapes = [(i, g) for i, shapes in enumerate(model.geometry) for g in shapes]
        notes: list[str] = []
        if role == "visual" and not any(i and g.role != "collision" for i, g in shapes):
            if any(i and g.role == "collision" for i, g in shapes):
                notes.append("the robot has no visual shapes: those for collision are drawn")
                chosen = shapes
            else:
                chosen = [(i, g) for i, g in shapes if not i]
        elif role == "stick":
            chosen = [(i, g) for i, g in shapes if not i]
        else:
            chosen = [(i, g) for i, g in shapes if g.role in (role, "both")]
            if role == "collision" and not chosen:
                notes.append("the robot has no collision shapes")
        parts, failed = _parts(model, chosen, role, notes)
        drawn = {part.body for part in parts}
        if role != "collision" and not drawn - {0}:
            if role == "visual":
                notes.append("the robot has no shapes that can be drawn: a stick figure is drawn")
            parts += stick_figure(model)
        elif role == "visual" and failed - drawn:
            names = ", ".join(repr(model.body_names[i]) for i in sorted(failed - drawn))
            notes.append(f"sticks are drawn of the bodies {names}")
            parts += stick_figure(model, sorted(failed - drawn))
        parts += _of_contacts(model, parts)
        scene = cls(model, tuple(_named(parts)), tuple(notes))
        parts = [_with_image(part, notes) for part in scene._with_floors()]
        return replace(scene, parts=tuple(parts), notes=tuple(notes), _corners={})

    def poses(self, q, t=None) -> np.ndarray:
        """Poses of all bodies.

        Parameters
        ----------
        q : (nq,) or (T, nq) array_like
            Positions [rad or m; quaternions unit].
        t : float or (T,) array_like, optional
            Time [s], of models that depend on it; default 0.

        Returns
        -------
        (T, nb, 7) array
            Of the user's frame of each body in the world: position [m] and unit quaternion (w, x, y, z). The first
            body is the world.
        """
        Q = np.atleast_2d(array("Scene.poses: q", q))
        if Q.ndim != 2 or Q.shape[1] != self.model.nq:
            refuse("Scene.poses: q", q, f"positions of shape ({self.model.nq},) or (T, {self.model.nq})")
        instant = (np.broadcast_to(0.0 if t is None else t, len(Q)),) if self.model.time_dependent else ()
        R, p = _forward_kinematics(self.model, Q, *instant)
        return np.concatenate([p, quaternion_of(R)], axis=-1)

    def bounds(self, q=None) -> tuple[np.ndarray, np.ndarray]:
        """The box along the world's axes that holds all bodies at one or several positions; planes are left out.

        Parameters
        ----------
        q : (nq,) or (T, nq) array_like, optional
            Default: the keyframe "initial", or the neutral position.

        Returns
        -------
        lower, upper : (3,) array
            [m]
        """
        poses = self.poses(usual_position(self.model) if q is None else q)
        points = []
        for part in self.parts:
            if part.kind in ("plane", "heightfield"):
                continue
            pose = poses[:, part.body]
            world = np.einsum("tij,kj->tki", rotation_matrix(pose[:, 3:]), self._box(part)) + pose[:, None, :3]
            points.append(world.reshape(-1, 3))
        found = np.concatenate(points) if points else np.zeros((1, 3))
        return found.min(axis=0), found.max(axis=0)

    def _box(self, part: Part) -> np.ndarray:
        """Corners of the part's box along the axes of its body."""
        found = self._corners.get(part.name)
        if found is None:
            corners = part.corners()
            low, high = corners.min(axis=0), corners.max(axis=0)
            found = np.array([np.where(bits, high, low) for bits in np.ndindex(2, 2, 2)])
            self._corners[part.name] = found
        return found

    def _with_floors(self) -> Iterator[Part]:
        """The parts, planes as wide as the robot is large."""
        lower, upper = self.bounds()
        side = max(1.0, float(2.0 ** np.ceil(np.log2(AROUND_FLOOR * max(float((upper - lower).max()), 1e-3)))))
        for part in self.parts:
            yield replace(part, size=(side, side)) if part.kind == "plane" else part


def _with_image(part: Part, notes: list[str]) -> Part:
    """The part with the image of its material on its surfaces; one that cannot be read is noted."""
    if part.texture is None:
        return part
    try:
        return replace(part, mesh=textured(part.kind, part.triangles(), part.texture, part.color))
    except GeometryError as error:
        notes.append(str(error))
        return part


def _parts(model, shapes, role: str, notes: list[str]) -> tuple[list[Part], set[int]]:
    """Parts of shapes, and the bodies of those whose meshes could not be read."""
    parts, failed, read = [], set(), {}
    for i, g in shapes:
        texture = g.texture if role == "visual" else None
        color = g.color or (WHITE if texture is not None else None)
        color = color or (TOUCHING if role == "collision" else FLOOR if g.kind == "plane" else GRAY)
        surfaces = ()
        if g.kind == "mesh":
            try:
                key = (g.mesh, tuple(g.scale))
                surfaces = read[key] if key in read else read.setdefault(key, surfaces_of(g))
            except (GeometryError, MissingDependencyError) as error:
                notes.append(str(error))
                failed.add(i)
                continue
            if role == "collision" or (g.color is not None and texture is None):
                surfaces = colored(surfaces, color)
        elif g.kind == "heightfield":
            surfaces = (height_field(g.size, g.heights),)
        X = pose_matrix(g.R_BG, g.p_BG)
        parts.append(
            Part(g.name or g.link or model.body_names[i], i, role, X, g.kind, g.size, color, surfaces, texture)
        )
    return parts, failed


def _of_contacts(model, parts: list[Part]) -> list[Part]:
    """Surfaces that only contacts have, such as the ground of a simulation."""
    known = {shape.name for shape in named_shapes(model)}
    has_floor = any(part.kind == "plane" for part in parts)
    found = {}
    for pair in model.contacts:
        for shape in pair.shapes:
            if shape.name in known or (has_floor and shape.kind == "plane"):
                continue
            frame = model.frame(shape.body)
            X = pose_matrix(frame.R_BF @ np.array(shape.R), frame.p_BF + frame.R_BF @ np.array(shape.p))
            color = FLOOR if shape.kind == "plane" else TOUCHING
            hull = shape.kind == "hull"
            mesh = (Triangles(*cut_at_edges(np.array(shape.vertices, float), np.array(shape.faces))),) if hull else ()
            if shape.kind == "bowl":
                mesh = (hollow_half(shape.size[0]),)
            kind = "mesh" if mesh else shape.kind
            found[shape.name] = Part(shape.name, frame.body, "collision", X, kind, tuple(shape.size), color, mesh)
    return list(found.values())


def _named(parts: list[Part]) -> Iterator[Part]:
    """The parts of the world first, each with a name of its own."""
    taken: Counter = Counter()
    for part in sorted(parts, key=lambda part: part.body):
        name = part.name
        while taken[name]:
            taken[part.name] += 1
            name = f"{part.name} {taken[part.name]}"
        taken[name] += 1
        yield replace(part, name=name)
