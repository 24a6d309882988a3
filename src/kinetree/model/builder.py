"""Build a model body by body, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.arguments import a_model, a_name, a_truth_value, checked, of_kind, several
from kinetree.collision.pair import ContactPair
from kinetree.constraints import Constraint, Coupling
from kinetree.constraints.registry import check_constraint
from kinetree.errors import ModelError, unknown_name
from kinetree.forces.contract import ForceElement
from kinetree.forces.registry import POSITION_PARAMETERS, check_force
from kinetree.joints import Fixed, Joint
from kinetree.model import validation as check
from kinetree.model.assembly import JOINT_DATA, WORLD, AddedBody, Assembly
from kinetree.model.equipment import Equipment
from kinetree.model.gears import GearedRotor, check_rotor_numbers, unit_axis
from kinetree.model.model import GRAVITY, Model
from kinetree.model.parts import Geometry, Report, as_transform, one_number, two_named, vector
from kinetree.model.planar import refuse_planar
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from kinetree.spatial.rotations import quaternion_to_rotation

a_geometry = of_kind("Geometry", "kind", "size", "seen_from")


def rotation_of_quaternion(q) -> np.ndarray:
    """R of a quaternion (w, x, y, z) of any length but zero."""
    q = np.asarray(q, dtype=float)
    return np.array(quaternion_to_rotation((q / np.linalg.norm(q)).tolist()).T.matrix.rows)


class Builder:
    """Base of builders: the parts of a model that need no place in a tree.

    Parameters
    ----------
    name : str
        Name of the model.
    gravity : (3,) array
        In world coordinates [m/s^2].
    accept_impossible_inertia : bool
        Put inertias that no body can have into the report instead of refusing them.
    """

    def __init__(self, name: str = "model", *, gravity=GRAVITY, accept_impossible_inertia: bool = False) -> None:
        self.name = name
        self.gravity = gravity
        self.accept_impossible_inertia = accept_impossible_inertia
        self.report = Report()
        self.equipment = Equipment()
        self._bodies: dict = {}
        self._frames: dict[str, tuple[str, Transform]] = {}
        self._constraints: list[Constraint] = []
        self._forces: list[ForceElement] = []
        self._contacts: list[ContactPair] = []

    @checked(joint=a_name, master=a_name)
    def add_coupling(self, joint: str, master: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Let a joint follow another: ``q_joint = ratio q_master + offset``.

        Parameters
        ----------
        joint, master : str
            Names of joints of one freedom; the master may follow a third joint.
        ratio : float
        offset : float
            [rad or m].
        """
        self._constraints.append(Coupling(joint, master, ratio, offset))

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint; its names are checked when the model is built.

        Parameters
        ----------
        constraint : Constraint
            See `kinetree.constraints`.

        Raises
        ------
        ModelError
            It is none.
        """
        check_constraint(f"model {self.name!r}", constraint)
        self._constraints.append(constraint)

    def add_force(self, force: ForceElement) -> None:
        """Add a force element; its names and numbers are checked when the model is built.

        Parameters
        ----------
        force : ForceElement
            See `kinetree.forces`.

        Raises
        ------
        ModelError
            It is none.
        """
        check_force(f"model {self.name!r}", force)
        self._forces.append(force)

    def note(self, level: str, where: str, message: str) -> None:
        """Add an entry to the report: level "info", "warning" or "dropped", the place, and the message."""
        self.report = self.report.with_entry(level, where, message)

    def _refuse_body(self, name: str) -> None:
        """Raise DuplicateNameError for the name of the world or of another body."""
        if name == WORLD or name in self._bodies:
            where = " (the world is body 0)" if name == WORLD else ""
            raise two_named("body", name, self.name, where, "bodies")

    def _inertia(self, name: str, mass: float, com: Sequence[float], inertia) -> Inertia:
        what = f"body {name!r}"
        check.check_mass(what, mass)
        com = vector(f"{what}: com", com, "m")
        I_com = check.as_rotational_inertia(what, np.zeros(3) if inertia is None else inertia)
        try:
            check.check_inertia(what, mass, I_com)
        except ModelError as problem:
            if not self.accept_impossible_inertia:
                raise
            self.note("warning", what, f"impossible inertia taken as it is: {problem}")
        return Inertia.from_com(float(mass), Vector3(*com.tolist()), Symmetric3.of(I_com.tolist()))


def joint_data(joint_name: str, joint: Joint, given: Mapping[str, object]) -> dict[str, np.ndarray]:
    """The given ones of the numbers of a joint, as arrays over its velocities or positions."""
    sizes = {what: joint.nq if what in POSITION_PARAMETERS else joint.nv for what in given}
    return {what: check.of_joint(joint_name, what, x, sizes[what]) for what, x in given.items() if x is not None}


class ModelBuilder(Builder):
    """Collects bodies, joints, frames and couplings, and makes a Model of them.

    Parameters
    ----------
    name : str
        Name of the model.
    gravity : (3,) array
        In world coordinates [m/s^2].
    accept_impossible_inertia : bool
        Put inertias that no body can have into the report instead of refusing them. Negative masses, asymmetric tensors
        and numbers that are not finite are refused anyway.

    Attributes
    ----------
    report : Report
        The caller's messages about the model; see ``note``.
    source : str or None
        File that the model is read from.
    source_options : mapping or None
        Options that it is read with.
    equipment : Equipment
        Loop joints, constraints, tendons, actuators and keyframes, referring to everything by name; assign a new one,
        or add: ``builder.equipment += Equipment(loops=(...,))``.

    Examples
    --------
    A ball of 1 kg on a rod without mass:

    >>> import kinetree as kt
    >>> from kinetree.joints import Revolute
    >>> b = kt.ModelBuilder("pendulum")
    >>> b.add_body("rod", joint=Revolute((0, 1, 0)), joint_name="pivot", mass=1.0, com=(0, 0, -0.5))
    >>> model = b.build()
    >>> model
    <Model 'pendulum': 1 moving bodies, nq=1, nv=1>
    """

    def __init__(self, name: str = "model", *, gravity=GRAVITY, accept_impossible_inertia: bool = False) -> None:
        super().__init__(name, gravity=gravity, accept_impossible_inertia=accept_impossible_inertia)
        self.source: str | None = None
        self.source_options: Mapping[str, object] | None = None
        self._bodies: dict[str, AddedBody] = {}
        self._joint_names: dict[str, str] = {}  # joint to body
        self._gears: list[tuple[str, str, GearedRotor]] = []  # joint, stator's body, and the rest
        self._world_geometry: list[Geometry] = []
        self._world_inertia = Inertia.zero()
        self._welded: dict[str, str] = {}  # fixed joints that an earlier build merged away

    @classmethod
    @checked(model=a_model)
    def of(cls, model: Model) -> ModelBuilder:
        """A builder of the same model, to change it.

        Parameters
        ----------
        model : Model

        Returns
        -------
        ModelBuilder
            ``ModelBuilder.of(model).build()`` is the same model, but for fixed joints, which ``build`` merges.

        Examples
        --------
        >>> import kinetree as kt
        >>> b = kt.ModelBuilder.of(kt.models.pendulum())
        >>> b.add_frame("tip", "bob", ((0.0, 0.0, -1.0), (0.0, 0.0, 0.0)))
        >>> b.build().frame("tip").body
        1
        """
        refuse_planar(model, f"{cls.__name__}.of")
        builder = cls(model.name, gravity=list(model.gravity))
        builder.accept_impossible_inertia = model.accept_impossible_inertia
        builder.report, builder.equipment = model.report, model.equipment
        builder.source, builder.source_options = model.source, model.source_options
        builder._world_geometry, builder._world_inertia = list(model.geometry[0]), model.I[0]
        builder._welded = dict(model.welded)
        for i in model.outward():
            name, joint_name = model.body_names[i], model.joint_name(i)
            data = {
                what: np.array(getattr(model, what)[slot])
                for what in JOINT_DATA
                for slot in [(model.q_slice if what in POSITION_PARAMETERS else model.v_slice)[i]]
                if slot.stop > slot.start
            }
            parent = model.body_names[model.parent[i]]
            builder._bodies[name] = AddedBody(
                name, parent, model.joints[i], joint_name, model.X_T[i], model.I[i], data, list(model.geometry[i])
            )
            builder._joint_names[joint_name] = name
        for frame in model.frames:
            if frame.name != model.body_names[frame.body] or not frame.is_identity:
                builder._frames[frame.name] = (model.body_names[frame.body], frame.X_FB)
        builder._constraints = list(model.own_constraints)
        builder._forces = list(model.own_elements)
        builder._contacts = list(model.contacts)
        builder._gears = [
            (model.joint_name(rotor.joint), model.body_names[rotor.body], rotor) for rotor in model.rotors
        ]
        return builder

    @checked(name=a_name, parent=a_name, joint_name=a_name, geometry=several(a_geometry))
    def add_body(
        self,
        name: str,
        parent: str = WORLD,
        joint: Joint | None = None,
        joint_name: str | None = None,
        placement=None,
        *,
        mass: float = 0.0,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        inertia=None,
        armature=None,
        damping=None,
        dry_friction=None,
        stiffness=None,
        spring_reference=None,
        lower=None,
        upper=None,
        velocity_limit=None,
        effort_limit=None,
        limit_stiffness=None,
        limit_damping=None,
        geometry: Sequence[Geometry] = (),
    ) -> None:
        """Add a body and its joint.

        Parameters
        ----------
        name : str
            Unique among bodies and frames.
        parent : str
            The parent body; it may be added later.
        joint : Joint, optional
            Fixed by default. The body's frame is the joint's successor frame.
        joint_name : str, optional
            By default the name of the body.
        placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
            Pose of the joint's predecessor frame in the parent: position [m] and roll-pitch-yaw angles [rad], or
            rotation matrix R_PJ and position p_PJ [m], or the homogeneous matrix of both, or the transform X_JP. By
            default the parent's own frame.
        mass : float
            [kg]. Bodies without mass are allowed where a distal body has inertia.
        com : (3,) array
            Center of mass in the body [m].
        inertia : (3, 3) or (3,) array, optional
            Rotational inertia about the center of mass in body axes, or its diagonal [kg m^2]; zero by default (a
            point).
        armature, damping, dry_friction, stiffness : float or (nv,) array, optional
            Of this joint: reflected inertia of the actuator [kg m^2 or kg], viscous friction [N m s/rad or N s/m], dry
            friction [N m or N], spring [N m/rad or N/m]. Zero by default.
        spring_reference : float or (nq,) array, optional
            Position at which the spring is relaxed [rad or m].
        lower, upper : float or (nv,) array, optional
            Position limits [rad or m].
        velocity_limit, effort_limit : float or (nv,) array, optional
            Limits of the actuator [rad/s or m/s; N m or N].
        limit_stiffness, limit_damping : float or (nv,) array, optional
            Of the soft stops at the limits [N m/rad or N/m; N m s/rad or N s/m].
        geometry : sequence of Geometry

        Raises
        ------
        ModelError
            DuplicateNameError, InertiaError, JointError or another of its kinds, naming the body.
        """
        self._refuse_body(name)
        joint = Fixed() if joint is None else joint
        joint_name = name if joint_name is None else joint_name
        check.check_joint(f"joint {joint_name!r} of body {name!r}", joint)
        if joint_name in self._joint_names:
            where = f", those of bodies {self._joint_names[joint_name]!r} and {name!r}"
            raise two_named("joint", joint_name, self.name, where)
        X = as_transform(f"placement of joint {joint_name!r}", placement)
        given = dict(
            armature=armature, damping=damping, dry_friction=dry_friction, stiffness=stiffness,
            spring_reference=spring_reference, lower=lower, upper=upper, velocity_limit=velocity_limit,
            effort_limit=effort_limit, limit_stiffness=limit_stiffness, limit_damping=limit_damping,
        )  # fmt: skip
        I = self._inertia(name, mass, com, inertia)
        data = joint_data(joint_name, joint, given)
        self._bodies[name] = AddedBody(name, parent, joint, joint_name, X, I, data, list(geometry))
        self._joint_names[joint_name] = name

    @checked(name=a_name, body=a_name)
    def add_frame(self, name: str, body: str, placement=None) -> None:
        """Fix a named frame to a body.

        Parameters
        ----------
        name : str
            Names of frames are different from each other and from those of bodies; a frame on a body that has that
            body's name replaces the body's own frame.
        body : str
        placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
            Pose of the frame in the body [m, rad]; as for ``add_body``.
        """
        if name in self._frames:
            raise two_named("frame", name, self.name)
        self._frames[name] = (body, as_transform(f"frame {name!r}", placement))

    @checked(body=a_name, shape=a_geometry)
    def add_geometry(self, body: str, shape: Geometry) -> None:
        """Give a body (or the world) a shape.

        Parameters
        ----------
        body : str
            Must have been added.
        shape : Geometry
            Posed in this body.
        """
        if body == WORLD:
            self._world_geometry.append(shape)
        else:
            self._known(body, f"geometry {shape.name!r}").geometry.append(shape)

    @checked(name=a_name, joint=a_name, body=a_name, included=a_truth_value)
    def add_rotor(
        self,
        name: str,
        joint: str,
        ratio: float,
        axial_inertia: float,
        *,
        body: str | None = None,
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        center: Sequence[float] = (0.0, 0.0, 0.0),
        mass: float = 0.0,
        transverse_inertia: float | None = None,
        included: bool = False,
    ) -> None:
        """Add the rotor of a geared drive, with its gyroscopic effects: a body of revolution that turns with a joint.

        Parameters
        ----------
        name : str
            Unique among rotors.
        joint : str
            A joint of one freedom, already added.
        ratio : float
            Angle of the rotor in its stator per angle (or length [rad/m]) of the joint; negative if it turns the other
            way about ``axis``.
        axial_inertia : float
            About its axis [kg m^2].
        body : str, optional
            The stator, already added: a body that supports the joint, is moved by it, or the world. By default the
            parent of the joint.
        axis, center : (3,) array
            Direction of the axis, of any length, and the rotor's center of mass, which is on the axis, in the
            coordinates of the stator's body [1; m].
        mass : float
            [kg].
        transverse_inertia : float, optional
            About axes across its axis through the center of mass [kg m^2]; by default the same as about the axis. At
            least half of that: no body is flatter than a disk.
        included : bool
            Whether the inertia of the stator's body already contains the rotor's. Otherwise it is added to it now.

        Raises
        ------
        UnknownNameError, ModelError

        Notes
        -----
        *Source* Featherstone (2008), section 9.6. An armature ``ratio**2 * axial_inertia`` instead leaves out the
        rotor's couple on its stator. Do not give both.

        Examples
        --------
        >>> import kinetree as kt
        >>> b = kt.ModelBuilder.of(kt.models.double_pendulum())
        >>> b.add_rotor("motor", "elbow", 100.0, 1e-5, axis=(0, 1, 0), center=(0, 0, -0.1), mass=0.2)
        >>> geared = b.build()
        >>> geared.rotors[0].name, round(geared.I[1].m - kt.models.double_pendulum().I[1].m, 12)
        ('motor', 0.2)
        """
        what = f"model {self.name!r}: rotor {name!r}"
        if any(rotor.name == name for _, _, rotor in self._gears):
            raise two_named("rotor", name, self.name)
        if joint not in self._joint_names:
            raise unknown_name("joint", joint, self._joint_names, what)
        body = self._bodies[self._joint_names[joint]].parent if body is None else body
        J = one_number(f"{what}: axial inertia", axial_inertia)
        T = J if transverse_inertia is None else one_number(f"{what}: transverse inertia", transverse_inertia)
        p = vector(f"{what}: center", center, "m")
        ratio, mass = one_number(f"{what}: ratio", ratio), one_number(f"{what}: mass", mass)
        rotor = GearedRotor(name, -1, -1, ratio, unit_axis(what, axis), J, T, mass, Vector3(*p.tolist()))
        check_rotor_numbers(rotor, what)
        if not included and body != WORLD:
            stator = self._known(body, what)
            stator.inertia = stator.inertia + rotor.locked_inertia
        elif not included:
            self._world_inertia = self._world_inertia + rotor.locked_inertia
        self._gears.append((joint, body, rotor))

    @checked(merge_fixed=a_truth_value)
    def build(self, *, merge_fixed: bool = True) -> Model:
        """Build the model.

        Parameters
        ----------
        merge_fixed : bool
            Make bodies on fixed joints part of their parents: their inertia and shapes are added, and frames keep their
            names. Otherwise they stay bodies, with joints without freedom.

        Returns
        -------
        Model
            Bodies are numbered in the order in which they were added if every parent was added before its children;
            else depth first, so that subtrees are contiguous.

        Raises
        ------
        ModelError
            Or one of its kinds, naming the error and its place.
        """
        if not (self._bodies or self._frames or self._world_geometry):
            raise ModelError(
                f"model {self.name!r} is empty: no body was added. add_body(name, joint=..., mass=...) adds one; a "
                "model whose bodies are all welded to the world is allowed, one without anything is not."
            )
        assembly = Assembly(self, merge_fixed)
        return assembly.model()

    def _known(self, body: str, where: str) -> AddedBody:
        if body not in self._bodies:
            raise unknown_name("body", body, [WORLD, *self._bodies], f"model {self.name!r} ({where})")
        return self._bodies[body]
