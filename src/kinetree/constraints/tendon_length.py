"""The length of a tendon is constant, or a polynomial of another one's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kinetree.arguments import number, refuse
from kinetree.constraints.polynomial_coupling import numbers_of, polynomial
from kinetree.constraints.position_constraint import VALUES, Leaves, PositionConstraint
from kinetree.state_kinematics import Kinematics
from kinetree.tendons import JointTerm, ViaPoint, path_length
from kinetree.tendons.path import (
    Path,
    names_in,
    path_numbers,
    path_of,
    path_structure,
    renamed_path,
    with_path_numbers,
)


@dataclass(frozen=True, slots=True)
class TendonLength(PositionConstraint):
    """A tendon keeps its length, or follows another: ``L - L0 = c0 + c1 (M - M0) + c2 (M - M0)^2 + ...``.

    Parameters
    ----------
    path : sequence of JointTerm, or of ViaPoint and Pulley
        The tendon of length L: a weighted sum of joint positions, or the segments through the origins of frames. A
        pulley begins a branch, whose length is divided by its divisor.
    coefficients : sequence of float
        c0, c1, ... [m per power of m].
    master : sequence of JointTerm, or of ViaPoint and Pulley
        The tendon of length M; empty: the length stays at ``L0 + c0``.
    reference, master_reference : float
        L0 and M0 [m].
    name : str

    Notes
    -----
    A cable that is always taut; its force is minus the multiplier, since the row is the rate of the length. Segments
    between frames of one body are constant. Points that meet have no direction between them.

    Source: MuJoCo, XML reference, ``equality/tendon``.

    Examples
    --------
    A block and tackle: one end of the cable goes twice as fast as the other.

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("tackle")
    >>> unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> for name, x in (("left", 0.0), ("right", 1.0)):
    ...     _ = b.add_body(name, joint=kt.joints.Prismatic(), mass=1.0, inertia=unit, placement=((x, 0, -1), (0, 0, 0)))
    ...     _ = b.add_frame("above " + name, "world", ((x, 0, 1), (0, 0, 0)))
    >>> via, pulley = kt.tendons.ViaPoint, kt.tendons.Pulley
    >>> path = (via("above left"), via("left"), pulley(0.5), via("above right"), via("right"))
    >>> tackle = b.build().with_constraints(kt.constraints.TendonLength(path, reference=6.0))
    >>> a = kt.forward_dynamics(tackle, [0, 0], [0, 0], [0, 0])  # gravity acts on both alike
    >>> [round(float(x), 6) for x in a]
    [-3.924, 1.962]
    """

    path: Path
    coefficients: tuple[float, ...] = (0.0,)
    master: Path = ()
    reference: float = 0.0
    master_reference: float = 0.0
    name: str = ""

    number_fields = ("coefficients", "reference", "master_reference")

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_of("tendon length: path", self.path))
        if not (isinstance(self.master, (tuple, list)) and not self.master):
            object.__setattr__(self, "master", path_of("tendon length: master", self.master))
        object.__setattr__(self, "coefficients", numbers_of(f"{self}: coefficients", self.coefficients))
        for what in ("reference", "master_reference"):
            object.__setattr__(self, what, number(f"{self}: {what}", getattr(self, what)))
        if not self.master and any(self.coefficients[1:]):
            refuse(f"{self}: coefficients", self.coefficients, "one number where there is no master")
        if not self.master and self.master_reference:
            refuse(f"{self}: master_reference", self.master_reference, "none where there is no master")

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints of both paths."""
        return names_in((*self.path, *self.master), "joint")

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames of both paths."""
        return names_in((*self.path, *self.master), "frame")

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str]) -> TendonLength:
        """The same under other names of joints and frames."""
        return replace(self, **{what: renamed_path(getattr(self, what), joint, frame) for what in ("path", "master")})

    def where_locked(self, positions) -> TendonLength | None:
        """The tendons without the terms of locked joints, which are constant; None if no joint or point is left."""
        found = []
        for path, reference in ((self.path, self.reference), (self.master, self.master_reference)):
            still = [term for term in path if isinstance(term, JointTerm) and term.joint in positions]
            constant = sum(term.coefficient * positions[term.joint][0] for term in still)
            found.append((tuple(part for part in path if part not in still), reference - constant))
        (path, reference), (master, x0) = found
        if path and (master or not self.master):
            return replace(self, path=path, master=master, reference=reference, master_reference=x0)
        if not path and not master:
            return None
        if path:  # the master has a constant length
            value = polynomial(self.coefficients, -x0)
            return replace(self, path=path, master=(), coefficients=(value,), reference=reference, master_reference=0.0)
        return PositionConstraint.where_locked(self, positions)

    def numbers(self) -> dict[str, object]:
        """Coefficients, references, and the numbers of the paths."""
        return PositionConstraint.numbers(self) | path_numbers(self.path, "path") | path_numbers(self.master, "master")

    def with_numbers(self, values) -> TendonLength:
        """The same with other numbers, of any scalar type, in the order of ``numbers``."""
        values = list(values)
        own = len(PositionConstraint.numbers(self))
        made, rest = PositionConstraint.with_numbers(self, values[:own]), iter(values[own:])
        for what in ("path", "master"):
            object.__setattr__(made, what, with_path_numbers(getattr(self, what), rest))
        return made

    def structure(self, model) -> tuple:
        """The paths by numbers of joints and frames."""
        joints = {name: str(i) for i, name in enumerate(model.joint_names)}
        frames = {frame.name: str(k) for k, frame in enumerate(model.frames)}
        numbered = self.renamed(joints.__getitem__, frames.__getitem__)
        return self.kind, path_structure(numbered.path), path_structure(numbered.master), len(self.coefficients)

    def phi(self, kin):
        """``L - L0 - p(M - M0)``."""
        x = path_length(self.master, kin) - self.master_reference if self.master else 0.0
        return path_length(self.path, kin) - self.reference - polynomial(self.coefficients, x)

    @classmethod
    def examples(cls, model, rng):
        """Through the world and three bodies; one that follows another; a sum of joint positions."""
        kin, names = Kinematics(model, model.neutral()), [frame.name for frame in model.frames[: model.nb]]
        via = tuple(map(ViaPoint, (names[0], names[-1], names[1])))
        both = via[:2], via[1:]
        L, M = (float(path_length(path, Leaves(cls(path), kin, VALUES))) for path in both)
        yield (cls(via, reference=L + M),)
        yield (cls(both[0], (0.0, 0.5, -0.3), both[1], L, M),)
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        yield (cls((JointTerm(single[0], 0.5), JointTerm(single[-1], -0.25)), (0.0, 1.0), via, 0.0, L + M),)
