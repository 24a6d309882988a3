"""Base of Model and ScalarModel: the structure, without the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError
from types import MappingProxyType

import numpy as np

from kinetree.arguments import whole
from kinetree.errors import ShapeError, UnknownNameError, unknown_name
from kinetree.model import topology
from kinetree.model.constrained import Constrained
from kinetree.model.contacts import ContactParts
from kinetree.model.force_parts import ForceParts
from kinetree.model.parts import INERTIA_NAMES, Frame
from kinetree.spatial import Transform
from kinetree.spatial.algebra import SPATIAL


class Tree(ForceParts, topology.Rooted, Constrained, ContactParts):
    """Bodies, joints and frames, numbered: body 0 is the world, joint i connects body i to its parent."""

    STRUCTURE = (
        "name", "body_names", "joint_names", "parent", "joints", "frames", "constraints", "contacts", "nb",
        "nq", "nv", "nf", "q_slice", "v_slice", "depth", "_children", "_body_numbers", "_joint_numbers",
        "_frame_numbers", "_welded", "_limited", "unsupported", "unheld", "X_user", "time_dependent", "_clock",
        "algebra", "_loop_rows", "_clusters", "_independent_velocities", "_loop_numbers", "_stabilization",
        "_is_passing", "_force_ranges",
    )  # fmt: skip
    NUMBERED = ("rotors", "joint_forces", "elements", "loop_forces", "tendon_forces")  # parts with numbers of their own
    NAMED = ("rotors", "elements", "loop_forces", "tendon_forces")  # whose numbers are found by the name of the part
    __slots__ = STRUCTURE
    name: str
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    parent: tuple[int, ...]
    joints: tuple
    frames: tuple[Frame, ...]
    constraints: tuple
    contacts: tuple
    nb: int
    nq: int
    nv: int
    nf: int
    q_slice: tuple[slice, ...]
    v_slice: tuple[slice, ...]
    depth: tuple[int, ...]
    unsupported: tuple[str, ...]
    unheld: tuple[str, ...]
    time_dependent: bool

    # time_dependent: whether algorithms need the time, to which `at` binds the joints.
    # algebra: the constructors that algorithms start from, spatial or planar.

    # elements: force elements besides those of the joints, of loop joints and of tendons of the equipment.

    rotors = ()  # geared rotors; models that have some set their own

    def named_parts(self) -> list:
        """The parts whose numbers are found by their names."""
        return [part for kind in self.NAMED for part in getattr(self, kind)]

    @property
    def geared(self) -> bool:
        """Whether geared rotors add to the inertia of the bodies: they couple joints with the rotation of stators."""
        return bool(self.rotors)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"a {type(self).__name__} is immutable; replace({name}=...) gives a changed copy")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"a {type(self).__name__} is immutable")

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_structure(self, name, body_names, joint_names, parent, joints, frames, welded) -> None:
        q_slice, v_slice, nq, nv = [slice(0, 0)], [slice(0, 0)], 0, 0
        for joint in joints[1:]:
            q_slice.append(slice(nq, nq + joint.nq))
            v_slice.append(slice(nv, nv + joint.nv))
            nq, nv = nq + joint.nq, nv + joint.nv
        self._set(
            name=name, body_names=body_names, joint_names=joint_names, parent=parent, joints=joints, frames=frames
        )
        self._set(
            constraints=(),
            contacts=(),
            nb=len(parent),
            nq=nq,
            nv=nv,
            nf=len(frames),
            q_slice=tuple(q_slice),
            v_slice=tuple(v_slice),
            depth=topology.depths_of(parent),
            _children=topology.children_of(parent),
            _body_numbers=MappingProxyType({n: i for i, n in enumerate(body_names)}),
            _joint_numbers=MappingProxyType({n: i for i, n in enumerate(joint_names, start=1)}),
            _frame_numbers=MappingProxyType({frame.name: k for k, frame in enumerate(frames)}),
            _welded=MappingProxyType(dict(welded)),
            # From the coordinates in which body i is computed to its own: other than identity in re-framed models only.
            X_user=(Transform.identity(),) * len(parent),
            time_dependent=any(joint.time_dependent for joint in joints[1:]),
            _clock=None,
            algebra=SPATIAL,
            _loop_rows=None,
            _clusters=None,
            _independent_velocities=None,
            _loop_numbers=MappingProxyType({}),
            _stabilization=(),
            _is_passing=False,
            _force_ranges=(),
        )

    @property
    def n_inertial(self) -> int:
        """Number of inertial parameters: ten for each moving body, in planar models four."""
        return len(self.algebra.inertial) * (self.nb - 1)

    @property
    def inertial_labels(self) -> tuple[str, ...]:
        """Names of the inertial parameters in the order of the regressors: "forearm.mass", "forearm.h.x", ..."""
        entries = [INERTIA_NAMES[k] for k in self.algebra.inertial]
        return tuple(f"{name}.{entry}" for name in self.body_names[1:] for entry in entries)

    # Time ----------------------------------------------------------------------------------------------------------

    def at(self, t) -> Tree:
        """The tree at a time, as algorithms use it; itself unless joints depend on time.

        Parameters
        ----------
        t : scalar
            [s], of any kind.

        Returns
        -------
        Tree
            With the same structure and numbers; its joints are ordinary ones, some of which move without freedoms.
        """
        if not self.time_dependent and not self.has_given_motions:
            return self
        self.clusters()  # found once, at any time
        return self._bound(t, self.joints)

    def snapshot(self, t: float) -> Tree:
        """`at`, without the rows to solve for: those are chosen on it."""
        return self._bound(t, self.joints) if self.time_dependent or self.has_given_motions else self

    def after(self, dt) -> Tree:
        """For a tree at a time, that at a time dt [s] later; itself unless joints depend on time."""
        if self._clock is None:
            return self
        t, joints = self._clock
        return self._bound(t + dt, joints)

    def _bound(self, t, joints: Sequence) -> Tree:
        tree = self._twin()
        now = (None, *(joint.at(t) for joint in joints[1:]))
        tree._set(joints=now, time_dependent=False, _clock=(t, joints))
        return tree

    def _twin(self) -> Tree:
        """A copy, to be changed."""
        tree = object.__new__(type(self))
        names = (name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()))
        tree._set(**{name: getattr(self, name) for name in names if hasattr(self, name)})
        return tree

    # The tree ------------------------------------------------------------------------------------------------------

    def outward(self) -> range:
        """The moving bodies, every parent before its children."""
        return range(1, self.nb)

    def inward(self) -> range:
        """The moving bodies, every child before its parent."""
        return range(self.nb - 1, 0, -1)

    def dof_parent(self) -> tuple[int, ...]:
        """Parent of every velocity coordinate in the expanded tree, counted from 0; -1 is the world.

        Notes
        -----
        Source: Featherstone, table 6.4 (there counted from 1).
        """
        expanded, _ = topology.expanded_parent(self.parent, [slot.stop - slot.start for slot in self.v_slice])
        return tuple(k - 1 for k in expanded[1:])

    def mass_matrix_pattern(self) -> np.ndarray:
        """Structural nonzeros of the mass matrix, as an (nv, nv) array of booleans.

        Notes
        -----
        Source: Featherstone (2008), section 6.4: entry (i, j) is zero unless one of the two joints supports the other.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.models.binary_tree(2).mass_matrix_pattern().astype(int).tolist()
        [[1, 1, 1], [1, 1, 0], [1, 0, 1]]
        """
        return topology.sparsity_pattern(self.dof_parent())

    def branching(self) -> topology.Branching:
        """Numbers D1 and D2 of the expanded tree, on which the cost of factorizations of the mass matrix depends.

        Notes
        -----
        Source: Featherstone (2008), table 6.6.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.models.binary_tree(3).branching()
        Branching(n=7, D0=6, D1=10, D2=14, depth=3)
        """
        return topology.branching_of(self.dof_parent())

    @property
    def nv_base(self) -> int:
        """Velocity coordinates of a floating base: 6, in planar models 3; 0 if the base does not float.

        Notes
        -----
        A base floats if it is the only child of the world, by a joint whose velocity is the twist of the base in its
        own coordinates (S is the identity at every q), such as a free joint.
        """
        n = len(self.algebra.wrench)
        if self.children(0) != (1,) or self.v_slice[1].stop != n:
            return 0
        if self.joints[1].time_dependent or self.joints[1].rheonomic:
            return 0  # v is the twist relative to a frame that moves
        # A subspace that depends on q contains NaN if q does.
        S = self.joints[1].motion_subspace([float("nan")] * self.q_slice[1].stop)
        unit = all(x == float(row == k) for k, S_k in enumerate(S) for row, x in enumerate(S_k))
        return n if unit else 0

    @property
    def nv_joints(self) -> int:
        """Velocity coordinates of all joints but that of a floating base."""
        return self.nv - self.nv_base

    # Coordinates ---------------------------------------------------------------------------------------------------

    def q_of(self, i: int, q: Sequence) -> Sequence:
        """The entries of q that belong to joint i."""
        return q[self.q_slice[i]]

    def v_of(self, i: int, v: Sequence) -> Sequence:
        """The entries of v (or of a, tau) that belong to joint i."""
        return v[self.v_slice[i]]

    def q_index(self, joint: str | int) -> slice:
        """The entries of q that belong to a joint, by name: ``q[..., model.q_index("knee")]``.

        Parameters
        ----------
        joint : str or int

        Raises
        ------
        UnknownNameError
        """
        return self.q_slice[self.joint(joint)]

    def v_index(self, joint: str | int) -> slice:
        """The entries of v, a and tau that belong to a joint, by name: ``tau[model.v_index("knee")] = 5.0``.

        Parameters
        ----------
        joint : str or int

        Raises
        ------
        UnknownNameError
        """
        return self.v_slice[self.joint(joint)]

    @property
    def position_labels(self) -> tuple[str, ...]:
        """A label for every entry of q: "knee", or "base.x" for joints with several coordinates."""
        return self._labels("position_names")

    @property
    def velocity_labels(self) -> tuple[str, ...]:
        """A label for every entry of v: "knee", or "base.wx" for joints with several coordinates."""
        return self._labels("velocity_names")

    @property
    def position_units(self) -> tuple[str, ...]:
        """The unit of every entry of q: "rad", "m", or "1"."""
        return tuple(unit for joint in self.joints[1:] for unit in joint.position_units)

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """The unit of every entry of v: "rad/s" or "m/s"."""
        return tuple(unit for joint in self.joints[1:] for unit in joint.velocity_units)

    def _labels(self, member: str) -> tuple[str, ...]:
        labels = []
        for i in self.outward():
            parts, name = getattr(self.joints[i], member), self.joint_name(i)
            labels += [name] if len(parts) == 1 else [f"{name}.{part}" for part in parts]
        return tuple(labels)

    @property
    def welded(self) -> Mapping[str, str]:
        """Fixed joints that were merged away, and the frames that remain of their bodies; read-only."""
        return self._welded

    # Names ---------------------------------------------------------------------------------------------------------

    def body(self, name: str | int) -> int:
        """Number of the body with this name; a number is checked and returned.

        Parameters
        ----------
        name : str or int
            Bodies and joints have names of their own: a body and a joint may share one.

        Raises
        ------
        UnknownNameError
        """
        hint = ""
        if isinstance(name, str) and name in self._frame_numbers:
            on = self.body_names[self.frames[self._frame_numbers[name]].body]
            hint = (
                f"no body named {name!r} in model {self.name!r}: it is a frame on body {on!r} (bodies on fixed joints "
                f"become frames). Use model.frame({name!r}), or keep such bodies: kt.load(..., merge_fixed=False) or "
                "build(merge_fixed=False)."
            )
        return self._find("body", name, self._body_numbers, 0, hint)

    def joint(self, name: str | int) -> int:
        """Number of the joint with this name, which is that of the body it moves; a number is checked and returned.

        Parameters
        ----------
        name : str or int

        Raises
        ------
        UnknownNameError
        """
        hint = ""
        if isinstance(name, str) and name in self._welded:
            hint = (
                f"joint {name!r} of model {self.name!r} is fixed: its body became frame {self._welded[name]!r}. "
                "kt.load(..., merge_fixed=False) and build(merge_fixed=False) keep fixed joints."
            )
        return self._find("joint", name, self._joint_numbers, 1, hint)

    def joint_name(self, i: int) -> str:
        """Name of the joint that connects body i to its parent: ``joint_names[i - 1]``.

        Parameters
        ----------
        i : int
            Number of a body that moves.

        Raises
        ------
        UnknownNameError

        Examples
        --------
        >>> import kinetree as kt
        >>> model = kt.models.double_pendulum()
        >>> model.joint_names, model.joint_name(1)
        (('shoulder', 'elbow'), 'shoulder')
        """
        return self.joint_names[self.joint(i) - 1]

    def frame(self, name: str | int | Frame) -> Frame:
        """The frame with this name: every body is one, and any number of further frames may be fixed to a body.

        Parameters
        ----------
        name : str, int or Frame
            Name of a frame, or its number in ``frames``; frame i < nb is that of body i. A Frame must be one of these.

        Raises
        ------
        UnknownNameError
        """
        if not isinstance(name, Frame):
            return self.frames[self._find("frame", name, self._frame_numbers, 0)]
        if not any(frame is name for frame in self.frames):  # compiled code identifies a frame by its name
            raise UnknownNameError(
                f"frame {name.name!r} on body {name.body} is not one of model {self.name!r}, whatever its name; "
                "fix it to a body with ModelBuilder.add_frame",
                kind="frame",
                name=name.name,
                valid=list(self._frame_numbers),
            )
        return name

    def _find(self, kind: str, name: str | int, numbers: Mapping[str, int], first: int, hint: str = "") -> int:
        """The number of a name, or a number itself, which is checked; ``hint`` lists other places of the name."""
        if isinstance(name, str):
            if name in numbers:
                return numbers[name]
            if hint:
                raise UnknownNameError(hint, kind=kind, name=name, valid=list(numbers))
            raise unknown_name(kind, name, numbers, f"model {self.name!r}")
        number, last = whole(kind, name, "a name or a number"), first + len(numbers) - 1  # 1.7 is not body 1
        if not first <= number <= last:
            raise UnknownNameError(
                f"no {kind} {number} in model {self.name!r}: they are numbered {first} to {last}",
                kind=kind,
                name=number,
            )
        return number

    def coordinate(self, joint: str | int) -> int:
        """The entry of v that belongs to a joint of one freedom.

        Raises
        ------
        ShapeError
            If the joint has more or fewer; use ``v_index``.
        """
        i = self.joint(joint)
        if self.joints[i].nv != 1:
            raise ShapeError(
                f"joint {self.joint_name(i)!r} has {self.joints[i].nv} velocity coordinates, expected 1; "
                "model.v_index(name) gives them all",
                joint=self.joint_name(i),
            )
        return self.v_slice[i].start
