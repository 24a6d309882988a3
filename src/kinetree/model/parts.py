"""The small records of a model: frames, shapes, and the report of changes made by loading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import DuplicateNameError, ModelError, NonFiniteError
from kinetree.html_text import preformatted
from kinetree.model.contact_data import check_bits, check_contact_data
from kinetree.spatial import Transform, Vector3, rotation_from_matrix
from kinetree.spatial.rotations import euler

if TYPE_CHECKING:
    from kinetree.constraints.loop_joint import Softness
    from kinetree.model.texture import Texture

ROTATION_TOLERANCE = 1e-8  # of R R^T - 1

# The ten numbers of an inertia: mass, first moment, rotational inertia about the body's origin.
INERTIA_NAMES = ("mass", "h.x", "h.y", "h.z", "I.xx", "I.xy", "I.yy", "I.xz", "I.yz", "I.zz")

# The meaning of a shape's lengths.
SHAPES = {
    "box": ("x", "y", "z"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ellipsoid": ("x", "y", "z"),
    "plane": (),
    "mesh": (),
    "heightfield": ("x", "y", "depth"),
}


def two_named(kind: str, name: str, model: str, where: str = "", plural: str = "") -> DuplicateNameError:
    """The error for two things of one kind with one name; ``where`` specifies them."""
    kinds = plural or f"{kind}s"
    return DuplicateNameError(
        f"model {model!r}: two {kinds} are named {name!r}{where}; names of {kinds} must be different",
        kind=kind,
        name=name,
    )


def read_only(array: np.ndarray) -> np.ndarray:
    """The array itself, from now on read-only."""
    array.setflags(write=False)
    return array


def frozen(value):
    """Lists, arrays and tuples as tuples, mappings as read-only copies, and their contents likewise."""
    if type(value) in (list, tuple):
        return tuple(map(frozen, value))
    if isinstance(value, np.ndarray):
        return frozen(value.tolist())
    if isinstance(value, Mapping):
        return MappingProxyType({key: frozen(x) for key, x in value.items()})
    return value


def freeze(record, *names: str) -> None:
    """Replace the containers that a frozen dataclass was made of by immutable ones.

    ``names`` are its fields, by default all.
    """
    for name in names or record.__dataclass_fields__:
        object.__setattr__(record, name, frozen(getattr(record, name)))


def numeric(what: str, value) -> np.ndarray:
    """A new array of floats, or an error that names the argument."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}, expected numbers", value=value) from None


def one_number(what: str, value) -> float:
    """A float, or an error that names the argument."""
    x = numeric(what, value)
    if x.ndim:
        raise ModelError(f"{what} is {value!r}, expected one number", value=value)
    return float(x)


def check_rotation(what: str, R) -> np.ndarray:
    """Refuse a matrix that is not finite, not orthonormal, or a reflection."""
    R = numeric(f"{what}: rotation", R)
    if R.shape != (3, 3):
        raise ModelError(f"{what}: rotation has shape {R.shape}, expected (3, 3)", rotation=R)
    check_finite(f"{what}: rotation", R)
    defect = float(np.abs(R @ R.T - np.eye(3)).max())
    if defect > ROTATION_TOLERANCE:
        raise ModelError(f"{what}: rotation is not orthonormal (R R^T - 1 has an entry {defect:.3g})", defect=defect)
    if np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{what}: rotation has determinant -1, so it is a reflection (a left-handed frame)", rotation=R
        )
    return R


def check_finite(what: str, values, unit: str = "") -> None:
    """NaN and infinity are refused by name."""
    array = numeric(what, values)
    if not np.all(np.isfinite(array)):
        shown = array.tolist()
        raise NonFiniteError(f"{what} is {shown}{f' {unit}' if unit else ''}, expected finite numbers", value=shown)


def vector(what: str, value, unit: str, error: type = ModelError, meaning: str = "") -> np.ndarray:
    """Three finite numbers, or an error that names the argument."""
    x = numeric(what, value)
    if x.shape != (3,):
        raise error(f"{what} has shape {x.shape}, expected (3,){meaning} [{unit}]", value=x)
    check_finite(what, x, unit)
    return x


def transform_of_pose(R, p, what: str = "pose") -> Transform:
    """The coordinate transform X_BA to a frame B at the pose (R_AB, p_AB) in A: E = R^T, r = p."""
    E = rotation_from_matrix(check_rotation(what, R).T.tolist())
    return Transform(E, Vector3(*vector(f"{what}: position", p, "m").tolist()))


def check_placement(what: str, X: Transform) -> None:
    """A placement must be finite and its rotation proper and orthonormal."""
    vector(f"{what}: position", list(X.r), "m")
    check_rotation(what, X.E.matrix.rows)


def as_transform(what: str, placement) -> Transform:
    """The transform X_JP to a frame J from any of the forms in which its placement in P may be given.

    Parameters
    ----------
    what : str
        Opens the message of an error.
    placement : None, Transform, (xyz, rpy), (R, p) or (4, 4) array
        None (identity); X_JP itself; position [m] and roll-pitch-yaw angles [rad], R = Rz(yaw) Ry(pitch) Rx(roll);
        rotation matrix R_PJ and position p_PJ [m]; the homogeneous matrix of R_PJ and p_PJ.

    Raises
    ------
    ModelError
        If it is none of these, or not a rotation.
    """
    if placement is None:
        return Transform.identity()
    if isinstance(placement, Transform):
        check_placement(what, placement)
        return placement
    if isinstance(placement, np.ndarray) and placement.shape == (4, 4):
        if not np.array_equal(placement[3], (0.0, 0.0, 0.0, 1.0)):
            raise ModelError(f"{what}: the homogeneous matrix ends in {placement[3].tolist()}, expected [0, 0, 0, 1]")
        return transform_of_pose(placement[:3, :3], placement[:3, 3], what)
    try:
        first, second = (np.array(part, dtype=float) for part in placement)
    except (TypeError, ValueError):
        first = second = np.empty(0)
    if first.shape == (3,) and second.shape == (3,):
        check_finite(f"{what}: roll-pitch-yaw", second, "rad")
        return transform_of_pose(rotation_of_rpy(*second.tolist()), first, what)
    if first.shape == (3, 3) and second.shape == (3,):
        return transform_of_pose(first, second, what)
    raise ModelError(
        f"{what}: placement {placement!r} is not valid; give a Transform, a pair (xyz, rpy), a pair (R, p) or a "
        "4x4 array",
        placement=placement,
    )


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll) for angles in radians."""
    return np.array(euler("zyx", (yaw, pitch, roll)).T.matrix.rows)


def pose_of_transform(X: Transform) -> tuple[np.ndarray, np.ndarray]:
    """The pose (R_AB, p_AB) of frame B in A, from X_BA: R = E^T, p = r."""
    return np.array(X.E.matrix.rows, dtype=float).T, np.array(list(X.r), dtype=float)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A named frame F fixed to a body B.

    Parameters
    ----------
    name : str
        Unique among the frames of a model.
    body : int
        Number of the body.
    R_BF : (3, 3) array
        Orientation of F in B [1].
    p_BF : (3,) array
        Position of F's origin in B [m].

    Attributes
    ----------
    X_FB : Transform
        From body to frame coordinates.
    """

    name: str
    body: int
    R_BF: np.ndarray = field(default=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), repr=False)
    p_BF: np.ndarray = field(default=(0.0, 0.0, 0.0), repr=False)
    X_FB: Transform = field(init=False, repr=False)

    def __post_init__(self) -> None:
        X_FB = transform_of_pose(self.R_BF, self.p_BF, f"frame {self.name!r}")
        R_BF, p_BF = pose_of_transform(X_FB)  # so that the arrays and the transform agree to the last bit
        object.__setattr__(self, "R_BF", read_only(R_BF))
        object.__setattr__(self, "p_BF", read_only(p_BF))
        object.__setattr__(self, "X_FB", X_FB)

    @property
    def is_identity(self) -> bool:
        """Whether the frame is the body's own, to the last bit."""
        return not self.p_BF.any() and np.array_equal(self.R_BF, np.eye(3))

    def __reduce__(self):  # early releases of Python 3.11 replace the __setstate__ of frozen dataclasses with slots
        return Frame, (self.name, self.body, np.array(self.R_BF), np.array(self.p_BF))


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A shape on a body, as data; drawing and queries are elsewhere.

    Parameters
    ----------
    kind : str
        "box" (x, y, z edge lengths), "sphere" (radius), "cylinder" and "capsule" (radius, length along z, for the
        capsule without its caps), "ellipsoid" (x, y, z semi-axes), "plane" (z = 0, solid below), "mesh", "heightfield"
        (x, y edge lengths of the area about the origin, depth of the ground below z = 0).
    size : tuple of float
        The lengths listed for the kind [m].
    R_BG : (3, 3) array
        Orientation of the shape in the body [1].
    p_BG : (3,) array
        Position of the shape's origin in the body [m].
    role : str
        "visual", "collision" or "both".
    name : str
        For messages; may be empty.
    mesh : str, optional
        File of a mesh.
    scale : tuple of 3 floats
        Scale of a mesh along its axes.
    color : tuple of 4 floats, optional
        Red, green, blue, opacity, each from 0 to 1.
    material : str
        Name of the material; may be empty.
    texture : Texture, optional
        The image of the material.
    heights : (rows, columns) array, optional
        Of a heightfield: z at points on a grid, columns along x, rows along y, from the lower to the upper edge [m].
    friction : tuple of 1 to 3 floats, optional
        Coefficients of sliding friction [1], of torsional and of rolling friction [m]. None: not stated.
    restitution : float, optional
        0 to 1 [1].
    stiffness, damping : float, optional
        Of the surface along its normal [N/m, N s/m].
    contype, conaffinity : int
        Filter bits: two shapes may touch if a bit of the contype of one is in the conaffinity of the other.
    margin : float
        Distance from which a contact is active [m].
    condim : int, optional
        Dimension of the contact force: 1 (normal), 3 (sliding friction), 4 (torsional), 6 (rolling).
    priority : int
        The parameters of a contact are those of the shape with the higher priority; of equal ones, those of both.
    softness : Softness, optional
        Of contacts in MuJoCo's solver; data.
    link : str
        The link that it came with, where a fixed joint welds that to the body; empty for the body's own shapes.
    """

    kind: str
    size: tuple[float, ...] = ()
    R_BG: np.ndarray = field(default=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), repr=False)
    p_BG: np.ndarray = (0.0, 0.0, 0.0)
    role: str = "both"
    name: str = ""
    mesh: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    color: tuple[float, float, float, float] | None = None
    material: str = ""
    texture: Texture | None = None
    heights: np.ndarray | None = field(default=None, repr=False)
    friction: tuple[float, ...] | None = None
    restitution: float | None = None
    stiffness: float | None = None
    damping: float | None = None
    contype: int = 1
    conaffinity: int = 1
    margin: float = 0.0
    condim: int | None = None
    priority: int = 0
    softness: Softness | None = None
    link: str = ""

    def __post_init__(self) -> None:
        if self.kind not in SHAPES:
            known = ", ".join(SHAPES)
            raise ModelError(f"geometry {self.name!r}: unknown kind {self.kind!r}; known: {known}", kind=self.kind)
        names = SHAPES[self.kind]
        try:
            size = tuple(map(float, np.atleast_1d(self.size))) if np.size(self.size) else ()
        except (TypeError, ValueError):
            file = "; the file of a mesh is mesh=" if self.kind == "mesh" else ""
            raise ModelError(
                f"{self.kind} {self.name!r}: size {self.size!r}, expected {len(names)} positive lengths [m] "
                f"({', '.join(names) or 'none'}){file}",
                size=self.size,
            ) from None
        if len(size) != len(names) or not all(x > 0.0 and np.isfinite(x) for x in size):
            raise ModelError(
                f"{self.kind} {self.name!r}: size {size}, expected {len(names)} positive lengths [m] "
                f"({', '.join(names) or 'none'})",
                size=size,
            )
        if self.role not in ("visual", "collision", "both"):
            raise ModelError(
                f"{self.kind} {self.name!r}: role {self.role!r}; known: visual, collision, both", role=self.role
            )
        if self.kind == "mesh" and not self.mesh:
            raise ModelError(f"mesh {self.name!r}: no file; give mesh='path/to/file.stl'")
        object.__setattr__(self, "size", size)
        freeze(self, "scale", "color")
        what = f"{self.kind} {self.name!r}"
        object.__setattr__(self, "R_BG", read_only(check_rotation(what, self.R_BG)))
        object.__setattr__(self, "p_BG", read_only(vector(f"{what}: position", self.p_BG, "m")))
        if (self.kind == "heightfield") != (self.heights is not None):
            raise ModelError(f"{what}: heights= belongs to heightfields, which need it: a (rows, columns) array [m]")
        if self.heights is not None:
            object.__setattr__(self, "heights", read_only(_heights(what, self.heights, size[2])))
        check_contact_data(what, self)
        for name in ("contype", "conaffinity"):
            object.__setattr__(self, name, check_bits(what, name, getattr(self, name)))

    def __reduce__(self):  # as that of Frame
        return _unpickled, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def seen_from(self, X: Transform, link: str = "") -> Geometry:
        """The same shape, given on a body A whose frame is left by X (from A to this body's coordinates).

        ``link``: the name of this body, if it becomes part of A.
        """
        R_AB, p_AB = pose_of_transform(X)
        changes = {"R_BG": R_AB @ self.R_BG, "p_BG": R_AB @ self.p_BG + p_AB, "link": self.link or link}
        values = {name: changes.get(name, getattr(self, name)) for name in self.__dataclass_fields__}
        return Geometry(**values)


def _heights(what: str, values, depth: float) -> np.ndarray:
    heights = numeric(f"{what}: heights", values)
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ModelError(f"{what}: heights have shape {heights.shape}, expected (rows, columns), 2 or more of both")
    check_finite(f"{what}: heights: one", heights[~np.isfinite(heights)][:1], "m")
    if heights.min() <= -depth:
        fault = f"the lowest height is {heights.min():g} m, and the ground ends {depth:g} m below z = 0"
        raise ModelError(f"{what}: {fault}; give a greater depth", heights=heights)
    return heights


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """One line of a report.

    Parameters
    ----------
    level : str
        "info", "warning" or "dropped" (physics of the file that the model lacks, left out on request).
    where : str
        File and line, or the element.
    message : str
    """

    level: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message}" if self.where else f"{self.level}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """Messages about everything ignored, assumed or changed while a model was built; immutable, printable.

    Examples
    --------
    >>> report = Report().with_entry("warning", "robot.urdf:12", "link 'tool' has no inertia")
    >>> print(report)
    warning: robot.urdf:12: link 'tool' has no inertia
    >>> len(report)
    1
    """

    entries: tuple[ReportEntry, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def with_entry(self, level: str, where: str, message: str) -> Report:
        """This report with one more entry."""
        return Report((*self.entries, ReportEntry(level, where, message)))

    def at_level(self, level: str) -> tuple[ReportEntry, ...]:
        """The entries of one level."""
        return tuple(entry for entry in self.entries if entry.level == level)

    def to_json(self) -> str:
        """The entries as a JSON list of objects."""
        return json.dumps([{"level": e.level, "where": e.where, "message": e.message} for e in self.entries])

    def __iter__(self) -> Iterator[ReportEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    _repr_html_ = preformatted

    def __str__(self) -> str:
        return "\n".join(map(str, self.entries)) or "nothing to report"


def _unpickled(*values) -> Geometry:
    """A shape with these values of its fields, which were checked when it was made."""
    found = object.__new__(Geometry)
    for name, value in zip(Geometry.__dataclass_fields__, values, strict=True):
        object.__setattr__(found, name, read_only(value) if isinstance(value, np.ndarray) else value)
    return found
