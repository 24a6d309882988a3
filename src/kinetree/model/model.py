"""The model of a mechanism: frozen data, the input of all algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from kinetree.arguments import a_mapping, a_random_generator, checked
from kinetree.collision.pair import ContactPair
from kinetree.constraints import Constraint
from kinetree.constraints.registry import checked_constraints
from kinetree.errors import ModelError, unknown_name
from kinetree.forces.contract import ForceElement
from kinetree.forces.registry import PARAMETERS, POSITION_PARAMETERS
from kinetree.forces.rotation_stop import RotationStop
from kinetree.foreign_names import OF_MODELS, no_attribute
from kinetree.html_text import of_model
from kinetree.model import construction
from kinetree.model import validation as check
from kinetree.model.actuators import actuator_elements, joint_force_ranges
from kinetree.model.candidates import ContactChoice
from kinetree.model.contacts import checked_contacts
from kinetree.model.equalities import equality_constraints, parts_without_rows, without_constraints
from kinetree.model.equipment import Equality, Equipment, LoopJoint, check_equipment
from kinetree.model.equipped import Equipped
from kinetree.model.gears import GearedRotor, checked_rotors, gear_structure
from kinetree.model.joint_arrays import JointArrays
from kinetree.model.joint_forces import check_number_names, joint_forces
from kinetree.model.loop_joints import check_loops, forces_in_loops, loop_numbers, placed, with_forces, without_forces
from kinetree.model.numbers import VELOCITY_ARRAYS, Numbers, ScalarModel, numbers_of, snapped_inertia
from kinetree.model.parts import Frame, Geometry, Report
from kinetree.model.ranges import drawn, position_ranges
from kinetree.model.tendons import tendon_forces
from kinetree.spatial import Inertia, Transform, Vector3

GRAVITY = (0.0, 0.0, -9.81)
_OF_JOINTS = (*VELOCITY_ARRAYS, *POSITION_PARAMETERS, "velocity_limit", "effort_limit")
_CHANGEABLE = (
    "name", "gravity", *_OF_JOINTS, "I", "X_T", "report", "equipment", "rotors", "constraints", "forces", "contacts",
)  # fmt: skip


class Model(Equipped, JointArrays, ContactChoice):
    """A mechanism: bodies with inertia, connected by joints into a tree whose root is the world.

    Models come from :func:`kinetree.load`, :class:`kinetree.ModelBuilder` or :mod:`kinetree.models`; these use
    the constructor. A model is immutable, hashed by identity, and safe to share between threads.

    Parameters
    ----------
    name : str
    body_names : sequence of str
        ``body_names[0]`` is the world.
    joint_names : sequence of str
        The joints that connect bodies 1, 2, ... to their parents; ``model.joint_name(i)`` is that of body i.
    parent : sequence of int
        ``parent[i] < i`` is the parent of body i; ``parent[0]`` is -1.
    joints : sequence of Joint
        ``joints[0]`` is None.
    X_T : sequence of Transform
        From parent coordinates to those of the joint's predecessor frame.
    I : sequence of Inertia
        About the body's origin; ``I[0]`` is that of bodies fixed to the world, which no algorithm uses.
    gravity : (3,) array
        In world coordinates [m/s^2].
    frames : sequence of Frame
        Frames besides those of the bodies.
    constraints : sequence of Constraint
        See `kinetree.constraints`.
    rotors : sequence of GearedRotor
        Geared rotors; ``I`` contains them.
    forces : sequence of ForceElement
        Besides those that ``parameters`` give.
    contacts : sequence of ContactPair
        Pairs of shapes that may touch; see `kinetree.collision` and ``with_contacts``.
    geometry : sequence of sequences of Geometry
        Shapes of every body.
    equipment : Equipment, optional
        Loop joints, equalities, tendons, actuators and keyframes.
    report : Report
    source : str, optional
        File that the model was read from.
    source_options : mapping, optional
        Options that it was read with, by `kinetree.load`.
    welded : mapping of str to str
        Fixed joints that were merged away, and the frames that remain of their bodies.
    accept_impossible_inertia : bool
        Accept inertias that no body can have.
    **parameters : float, (nv,) array or mapping, optional
        Per velocity coordinate or by joint name: ``armature``, the reflected inertia of actuators [kg m^2 or kg], zero
        by default; ``lower`` and ``upper``, limits of joints with as many positions as velocities [rad or m],
        ``velocity_limit`` [rad/s or m/s] and ``effort_limit`` [N m or N] of actuators, which the dynamics do not use,
        infinite by default; those of the forces of joints, ``damping``, ``stiffness`` and others [SI], zero by default.
        Per position: ``spring_reference`` [rad or m], neutral by default. See `ModelBuilder.add_body`. The model has
        them as arrays, those of forces as elements in ``forces``, too.

    Attributes
    ----------
    nb : int
        Number of bodies, the world included.
    nq, nv : int
        Number of position and of velocity coordinates.
    time_dependent : bool
        Whether joints depend on time: then algorithms take the time as their last input, ``kt.aba(model, q, v, tau,
        t)``, and work on ``model.at(t)``.
    own_elements : tuple of ForceElement
        Those of ``forces`` that are neither of joints nor made of actuators in ``equipment``.
    own_constraints : tuple of Constraint
        Those of ``constraints`` that are not made of the loop joints and equalities in ``equipment``.
    unsupported : tuple of str
        Features of the model that the complete dynamics do not compute yet, so that they raise: loop joints of kinds
        without an implicit form, equalities, tendons with forces, and actuators whose law is not computed and exerts a
        force without a control.
    unheld : tuple of str
        Those of them that restrict positions: loop joints and equalities.
    functions : dict
        Compiled functions of this model; filled on use.

    Notes
    -----
    From a joint's name to its entries: ``q[model.q_index("knee")]``, ``tau[model.v_index("knee")]`` (slices, also for
    joints of several coordinates); from an entry to its name: ``position_labels``, ``velocity_labels``.

    Source: Featherstone, table 4.3. Numbers that are residues of rounding (1e-13 of the greatest value for the
    element's size) become exact zeros, and entries of rotations within 1e-13 of 0 and +-1 become exact, so that
    compiled code leaves them out.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum()
    >>> model.nb, model.parent, model.body_names
    (3, (-1, 0, 1), ('world', 'upper', 'lower'))
    >>> model.q_index("elbow")
    slice(1, 2, None)
    >>> model.replace(damping={"elbow": 0.1}).damping.tolist()
    [0.0, 0.1]
    """

    X_T: tuple[Transform, ...]
    I: tuple[Inertia, ...]
    gravity: Vector3
    armature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    velocity_limit: np.ndarray
    effort_limit: np.ndarray
    geometry: tuple[tuple[Geometry, ...], ...]
    equipment: Equipment
    report: Report
    source: str | None
    functions: dict

    __slots__ = (
        "X_T", "I", "gravity", *POSITION_PARAMETERS, *VELOCITY_ARRAYS, "velocity_limit", "effort_limit", "geometry",
        "rotors", "equipment", "report", "source", "source_options", "accept_impossible_inertia", "functions",
        "joint_forces", "elements", "loop_forces", "tendon_forces", "own_constraints", "own_elements", "_reframed",
        "_numbers", "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        *,
        name: str,
        body_names: Sequence[str],
        joint_names: Sequence[str],
        parent: Sequence[int],
        joints: Sequence,
        X_T: Sequence[Transform],
        I: Sequence[Inertia],
        gravity=GRAVITY,
        frames: Sequence[Frame] = (),
        constraints: Sequence[Constraint] = (),
        rotors: Sequence[GearedRotor] = (),
        forces: Sequence[ForceElement] = (),
        contacts: Sequence[ContactPair] = (),
        geometry: Sequence[Sequence[Geometry]] | None = None,
        equipment: Equipment | None = None,
        report: Report | None = None,
        source: str | None = None,
        source_options: Mapping[str, object] | None = None,
        welded: Mapping[str, str] | None = None,
        accept_impossible_inertia: bool = False,
        **parameters,
    ) -> None:
        possible = not accept_impossible_inertia
        parent = construction.checked_tree(name, parent, body_names, joint_names, joints, X_T, I, possible)
        self._set_structure(
            name=str(name), body_names=tuple(body_names), joint_names=tuple(joint_names), parent=parent,
            joints=(None, *joints[1:]), frames=construction.all_frames(tuple(body_names), frames), welded=welded or {},
        )  # fmt: skip
        check.check_names("frame", [frame.name for frame in self.frames], name)
        self._set(geometry=construction.checked_geometry(name, geometry, len(parent)))
        others, equalities, forces = self._equip(equipment or Equipment(), constraints, forces)
        arrays, elements = construction.checked_arrays(self, forces, parameters)
        inertias = tuple(snapped_inertia(body) for body in I)
        self._set(
            X_T=construction.snapped_placements(self, X_T, inertias),
            I=inertias,
            gravity=construction.checked_gravity(name, gravity),
            report=report if report is not None else Report(),
            source=source,
            source_options=None if source_options is None else MappingProxyType(dict(source_options)),
            accept_impossible_inertia=bool(accept_impossible_inertia),
            _limited=tuple(bool(x) for x in np.isfinite(arrays["lower"]) | np.isfinite(arrays["upper"])),
            **arrays,
        )
        self._set(functions={}, _reframed=None, _numbers=None)
        self._set(rotors=checked_rotors(self, rotors, possible=possible))
        actuators, tendons = actuator_elements(self, self.equipment), tendon_forces(self.equipment)
        check.check_names("force element", [force.name for force in (*elements, *actuators, *tendons)], name)
        self._set(tendon_forces=tendons)
        self._set(joint_forces=joint_forces(self), own_elements=elements, elements=(*elements, *actuators))
        self._set(_force_ranges=joint_force_ranges(self, self.equipment))
        self._hold(others, equalities)
        self._set(contacts=checked_contacts(self, contacts))
        check_number_names(self)
        check.check_moving_inertia(self)

    def _equip(self, equipment: Equipment, constraints, forces) -> tuple[list, dict, list]:
        """Set equipment and loop joints; return the other constraints, those of equalities, and forces in no loop."""
        constraints = (constraints,) if isinstance(constraints, Constraint) else constraints
        loops = [*equipment.loops, *(c for c in constraints if isinstance(c, LoopJoint))]
        loops, forces = with_forces([placed(loop) for loop in loops], forces)
        others = [c for c in constraints if not isinstance(c, LoopJoint)]
        equipment = replace(equipment, loops=loops)
        check_equipment(self, equipment)
        self._set(equipment=equipment)
        equalities = equality_constraints(equipment, others)
        self._set(_loop_numbers=loop_numbers(self, self._closed(), len(others) + len(equalities)))
        check_loops(self)
        return others, equalities, forces

    def _closed(self) -> tuple[LoopJoint, ...]:
        """The loop joints that are constraints."""
        return tuple(loop for loop in self.equipment.loops if loop.has_rows)

    def _hold(self, others: Sequence[Constraint], equalities: Mapping[Equality, Constraint]) -> None:
        """Set the constraints, the forces in loops, and the list of what is not computed."""
        closed = self._closed()
        others = checked_constraints(self, [*others, *equalities.values()])
        self._set(constraints=(*others, *closed), loop_forces=())
        held = [*map(id, equalities.values()), *map(id, closed)]
        self._set(loop_forces=forces_in_loops(self), own_constraints=tuple(c for c in others if id(c) not in held))
        waiting = parts_without_rows(self.equipment, (*closed, *equalities), self.elements)
        cones = [c for c in others if c.row_kind == "cone"]
        self._set(unheld=tuple(map(str, waiting)))
        self._set(unsupported=(*self.unheld, *self.equipment.unsupported, *map(str, cones)))

    # Derived ---------------------------------------------------------------------------------------------------------

    @property
    def total_mass(self) -> float:
        """Mass of all moving bodies [kg], without those fixed to the world."""
        return float(sum(body.m for body in self.I[1:]))

    def neutral(self) -> np.ndarray:
        """Position at which every joint's frames coincide, as far as possible; coupled joints follow their masters.

        Returns
        -------
        (nq,) array
            [rad or m; quaternions (1, 0, 0, 0)]. Limits are not considered.
        """
        return self._coupled(self._joint_neutral())

    def initial_state(self) -> np.ndarray:
        """The internal states of the force elements where none are given.

        Returns
        -------
        (nx,) array
            In the order of ``state_names`` [as the elements define them].
        """
        return np.array(self.initial_internal(), dtype=float)

    @checked(rng=a_random_generator)
    def random_q(self, rng: np.random.Generator) -> np.ndarray:
        """A random position that respects limits and couplings.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        (nq,) array
            [rad or m; quaternions of unit length]. Uniform between the limits where a coordinate has two.
        """
        q: list[float] = []
        lower, upper = position_ranges(self)
        for i in self.outward():
            q_i, k = self.joints[i].random(rng), self.v_slice[i]
            if self.joints[i].nq == self.joints[i].nv:
                bounds = zip(q_i, lower[k].tolist(), upper[k].tolist(), strict=True)
                q_i = [drawn(x, low, high, rng) for x, low, high in bounds]
            q += q_i
        return self._coupled(np.array(q, dtype=float))

    @checked(rng=a_random_generator)
    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A random position and velocity that respect limits, couplings and locks.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        q : (nq,) array
            [rad or m].
        v : (nv,) array
            Standard normal [rad/s or m/s].
        """
        q, v = self.random_q(rng), rng.standard_normal(self.nv)
        return q, self.constrained_velocities(v)

    def _joint_neutral(self) -> np.ndarray:
        return np.array([x for i in self.outward() for x in self.joints[i].neutral()], dtype=float)

    def _coupled(self, q: np.ndarray) -> np.ndarray:
        for c in self.couplings:
            q[self.q_index(c.joint)] = c.ratio * q[self.q_index(c.master)] + c.offset
        return q

    # Copies with changes --------------------------------------------------------------------------------------------

    def replace(self, **changes) -> Model:
        """A validated copy with some of the data changed.

        Parameters
        ----------
        **changes
            ``gravity, armature, lower, upper, velocity_limit, effort_limit, I, X_T, name, report, equipment, rotors,
            constraints, forces, contacts``, and the parameters of the joints' forces (``damping``, ``stiffness``, ...:
            see ``ModelBuilder.add_body``). ``forces`` are all but the actuators, which stay, in place of those that the
            model has. Arrays per velocity may be a number for all or a mapping from joint names, which leaves the other
            joints as they are. ``I`` contains the rotors.

        Raises
        ------
        UnknownNameError
            For anything else; other changes need a ModelBuilder.

        Examples
        --------
        >>> import kinetree as kt
        >>> moon = kt.models.pendulum().replace(gravity=(0.0, 0.0, -1.62))
        >>> moon.gravity
        Vector3(0.0, 0.0, -1.62)
        """
        for what, value in changes.items():
            if what not in _CHANGEABLE:
                raise unknown_name("changeable part", what, _CHANGEABLE, f"model {self.name!r}")
            if isinstance(value, Mapping):
                if what not in _OF_JOINTS:
                    raise ModelError(f"model {self.name!r}: {what} is not a quantity of the joints, found {value!r}")
                slices = self.q_slice if what in POSITION_PARAMETERS else self.v_slice
                changes[what] = check.with_entries(what, np.array(getattr(self, what)), value, self, slices)
        arguments = self._arguments()
        if "forces" in changes:
            arguments = {what: value for what, value in arguments.items() if what not in PARAMETERS}
            made = (*self.elements[len(self.own_elements) :], *self.tendon_forces)  # of the equipment
            changes["forces"] = tuple(force for force in changes["forces"] if force not in made)
            bare = tuple(without_forces(loop) if loop.active else loop for loop in self.loops)
            arguments["equipment"] = replace(self.equipment, loops=bare)
        if "constraints" in changes and "equipment" not in changes:
            changes["equipment"] = without_constraints(arguments["equipment"])
        made = Model(**{**arguments, **changes})
        return made if changes.keys() & {"X_T", "constraints", "equipment"} else made.with_rows_of(self)

    def with_constraints(self, *constraints: Constraint) -> Model:
        """A copy with further constraints.

        Parameters
        ----------
        *constraints : Constraint
            See `kinetree.constraints`.

        Raises
        ------
        ModelError, UnknownNameError, DuplicateNameError, CouplingError

        Examples
        --------
        >>> import kinetree as kt
        >>> coupling = kt.constraints.Coupling("elbow", "shoulder", ratio=-1.0)
        >>> pair = kt.models.double_pendulum().with_constraints(coupling)
        >>> [str(c) for c in pair.constraints]
        ["coupling of joint 'elbow' to 'shoulder'"]
        """
        return Model(**self._arguments() | {"constraints": (*self.own_constraints, *constraints)})

    def with_forces(self, *forces: ForceElement) -> Model:
        """A copy with further force elements.

        Parameters
        ----------
        *forces : ForceElement
            See `kinetree.forces`.

        Raises
        ------
        ModelError, UnknownNameError, DuplicateNameError
        """
        return self.replace(forces=(*self.forces, *forces))

    def without_limits(self) -> Model:
        """A copy whose joints, those of loops and ball joints too, have no position limits and no stops."""
        none = {"lower": -np.inf, "upper": np.inf, "limit_stiffness": 0.0, "limit_damping": 0.0}
        loops = tuple(replace(loop, **none) for loop in self.loops)
        free = self.replace(**none, equipment=replace(self.equipment, loops=loops))
        others = tuple(force for force in free.forces if not isinstance(force, RotationStop))
        return (free if others == free.forces else free.replace(forces=others)).with_rows_of(self)

    def without_unsupported(self, *kinds: str) -> Model:
        """A copy without the features that the complete dynamics do not compute, or without all of some kinds.

        Parameters
        ----------
        *kinds : {"loops", "equalities", "tendons", "actuators"}
            Kinds to leave out, whether they are computed or not; default: all that is not computed. Tendons stay as
            lengths only, and actuators that exert nothing without a control stay.

        Raises
        ------
        UnknownNameError
            There is no such kind.
        """
        if kinds:
            equipment = self.equipment.without_forces(*kinds)
            return self.replace(equipment=equipment, constraints=self.own_constraints)
        left = {what: tuple(x for x in getattr(self.equipment, what) if str(x) not in self.unsupported)
                for what in ("loops", "equalities", "actuators")}  # fmt: skip
        left["tendons"] = tuple(t.without_forces() if str(t) in self.unsupported else t for t in self.tendons)
        constraints = tuple(c for c in self.own_constraints if c.row_kind != "cone")
        return self.replace(equipment=replace(self.equipment, **left), constraints=constraints)

    @checked(options=a_mapping)
    def read_with(self, options: Mapping[str, object]) -> Model:
        """This model, which `kinetree.load` has just read with these options and not yet returned."""
        self._set(source_options=MappingProxyType(dict(options)))
        return self

    def _arguments(self) -> dict[str, object]:
        """The constructor's arguments that give this model again."""
        names = (
            "name", "body_names", "joint_names", "parent", "joints", "X_T", "I", "gravity", *VELOCITY_ARRAYS,
            *POSITION_PARAMETERS, "velocity_limit", "effort_limit", "frames", "rotors", "geometry",
            "equipment", "report", "source", "accept_impossible_inertia",
        )  # fmt: skip
        options = None if self.source_options is None else dict(self.source_options)  # which can be pickled
        own = {"forces": self.own_elements, "constraints": self.own_constraints, "contacts": self.contacts}
        own |= {"source_options": options, "welded": dict(self._welded)}
        return {what: getattr(self, what) for what in names} | own

    def __reduce__(self):
        return partial(Model, **self._arguments()), ()

    def __copy__(self) -> Model:
        return self  # nothing of it can change

    def __deepcopy__(self, memo) -> Model:
        return self

    if not TYPE_CHECKING:  # it would hide misspelled names from checkers

        def __getattr__(self, name: str):
            owner = f"model {self.name!r}" if name != "name" else "an unfinished model"
            known = [x for x in dir(type(self)) if not x.startswith("_")]
            message = no_attribute(owner, name, OF_MODELS.get(name), known, "model.")
            raise AttributeError(message, name=name, obj=self)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.nb - 1} moving bodies, nq={self.nq}, nv={self.nv}>"

    _repr_html_ = of_model

    def _twin(self) -> ScalarModel:
        return ScalarModel.view(self)  # code compiled for a model is not valid for one at a time

    # For the compiler -----------------------------------------------------------------------------------------------

    def numbers(self) -> Numbers:
        """Names and values of every number that may be a run-time input of a compiled function.

        Returns
        -------
        Numbers
            Offsets, masses, first moments, inertias, gravity, and the data of the joints; see ``Numbers``.
        """
        if self._numbers is None:
            self._set(_numbers=numbers_of(self))
        return self._numbers

    def number_values(self) -> np.ndarray:
        """The values of ``numbers()``.

        Returns
        -------
        (n,) array
            In the units of each number [SI].
        """
        return self.numbers().values

    def number_pattern(self) -> tuple[tuple[bool, float], ...]:
        """(free, value) for each of ``numbers()``; exact zeros and infinite limits are not free."""
        numbers = self.numbers()
        return tuple(zip(numbers.free, numbers.values.tolist(), strict=True))

    def with_numbers(self, values: Sequence) -> ScalarModel:
        """The same structure over other numbers, of any scalar type.

        Parameters
        ----------
        values : sequence of scalars
            In the order of ``numbers()``.

        Returns
        -------
        ScalarModel
        """
        return ScalarModel(self, values)

    def structure(self) -> tuple:
        """All constants of compiled code, as nested tuples of strings and numbers.

        Returns
        -------
        tuple
            Hashable; two models with equal structure share their compiled functions. It consists of the tree, the
            joints, the rotations, the couplings, the frames, and of every number whether it is 0, infinite or free
            ("x").
        """
        rotations = tuple(tuple(x for row in X.E.matrix.rows for x in row) for X in self.X_T)
        pattern = tuple("x" if free else format(value, "g") for free, value in self.number_pattern())
        frames = tuple((f.name, f.body, tuple(f.R_BF.ravel().tolist()), tuple(f.p_BF.tolist())) for f in self.frames)
        forces = tuple(element.structure() for element in (*self.elements, *self.loop_forces, *self.tendon_forces))
        own = tuple((*(x for row in X.E.matrix.rows for x in row), *X.r) for X in self.X_user)
        return (
            ("dimension", self.algebra.dimension),
            ("parent", self.parent),
            ("joints", tuple(map(repr, self.joints))),
            ("rotations", rotations),
            ("numbers", pattern),
            ("constraints", (tuple(c.structure(self) for c in self.constraints), self.independent_rows())),
            ("stabilization", self._stabilization),
            ("passing", self._is_passing),
            ("rotors", gear_structure(self)),
            ("forces", forces),
            ("force ranges", self._force_ranges),
            ("frames", frames),
            ("own frames", own),
            ("unsupported", bool(self.unsupported)),
            ("unheld", bool(self.unheld)),
            ("contacts", tuple(pair.structure() for pair in self.contacts)),
        )

    def planar(self):
        """The same mechanism over planar vectors, if it moves in one plane.

        Returns
        -------
        PlanarModel
            Algorithms take it like a Model; q, v, a, tau and M are the same, vectors of bodies have three entries.

        Raises
        ------
        ModelError
            A joint leaves the plane; the message names it.
        """
        from kinetree.model.planar import PlanarModel

        return PlanarModel(self)

    def reframed(self) -> Model:
        """The equivalent model in which every joint has its cheapest axis, made once.

        Returns
        -------
        Model
            Its body coordinates are turned by constant rotations; ``frame(name)`` still is the frame of the original
            body, and everything in joint coordinates is the same.
        """
        if self._reframed is None:
            from kinetree.model.link_frames import reframed

            self._set(_reframed=reframed(self))
        return self._reframed
