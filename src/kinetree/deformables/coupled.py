"""Deformable bodies and an articulated model as one system that can be simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinetree.arguments import (
    a_callable,
    a_positive_number,
    a_truth_value,
    an_instance,
    array,
    checked,
    refuse,
    some_names,
)  # fmt: skip
from kinetree.deformables.gradient import DeformableGradient, check_states, node_gradient
from kinetree.deformables.point_masses import point_mass_model
from kinetree.deformables.run import CoupledRun
from kinetree.deformables.step_loop import simulated
from kinetree.deformables.system import CoupledSystem
from kinetree.errors import NonFiniteError, ShapeError, SimulationError
from kinetree.simulation.options import Inputs, Record
from kinetree.simulation.rollout_arrays import control_over_time

EVERY_STEP = Record()
FAR = 0.5  # of the size of a body: attached nodes that start farther from their rest are noted


class Coupled(CoupledSystem):
    """Deformable bodies, coupled with an articulated model by attached nodes: one system in both directions.

    Its velocities are those of the joints and of the free nodes. The matrix of a step is ``M + h D + h^2 K`` of both
    together; attached nodes are eliminated by ``u_a = J_am J_mr v``, loops and couplings by their null space.

    Parameters
    ----------
    model : Model or None
        None for deformables alone.
    bodies : Deformable or sequence of Deformable
    attachments : sequence of Attachment
    q : (nq,) array_like, optional
        The position at which attachments without ``at`` are placed [rad or m]; default: the neutral one.
    gravity : (3,) array_like, optional
        Of deformables without a model [m/s^2]; a model has its own.
    solver : {"direct", "cg"}
        Sparse factors by SuperLU, which serve several steps of large bodies; or conjugate gradients, in less memory.

    Attributes
    ----------
    model : Model or None
        As simulated: limits of joints that have no stop have got soft ones, as by `kinetree.simulate`.
    bodies, attachments : tuple
    notes : tuple of str
        On the stops that were added.

    Raises
    ------
    UnknownNameError
        No frame or deformable has a name that an attachment uses.
    ModelError
        A node that is not there, or is attached twice, or attached and fixed.
    DuplicateNameError
        Two bodies have one name.
    UnsupportedError
        The model has parts that are not computed here: prescribed motions, hard limits, internal states of forces.

    Notes
    -----
    Source: Sueda, section 2.7 (eq. 2.84-2.92), with any elements in place of springs.

    Examples
    --------
    A rope on the end of a pendulum:

    >>> import kinetree as kt
    >>> model = kt.models.pendulum()
    >>> rope = kt.deformables.strand((0, 0, -1), (0.5, 0, -1), 5, mass=0.1, axial_stiffness=500.0)
    >>> scene = kt.deformables.Coupled(model, rope, [kt.deformables.Attachment(0, "bob", at=(0, 0, -1))])
    >>> run = scene.simulate(0.1, 1e-3)
    >>> run.nodes("strand").shape
    (101, 6, 3)
    """

    instead_of_a_model = (
        "as kt.load and ModelBuilder.build give it: rollouts, gradients and exports take no coupled deformables, whose "
        "steps solve sparse equations. coupled.simulate(...) runs them; coupled.rollout_gradient(...) differentiates "
        "them; coupled.point_mass_model() is a Model of few nodes"
    )

    @checked(
        duration=a_positive_number, dt=a_positive_number, controller=a_callable, inputs=an_instance(Inputs),
        record=an_instance(Record), progress=a_truth_value,
    )  # fmt: skip
    def simulate(
        self,
        duration: float,
        dt: float,
        q0=None,
        v0=None,
        *,
        nodes=None,
        velocities=None,
        x0=None,
        integrator="linearly_implicit",
        controller: Callable | None = None,
        inputs: Inputs | None = None,
        record: Record = EVERY_STEP,
        progress: bool | None = None,
    ) -> CoupledRun:
        """Simulate the deformables and the model as one system.

        Parameters
        ----------
        duration, dt : float
            [s]; dt is the step, of adaptive methods the time between records.
        q0 : (nq,) array_like, optional
            Positions of the joints [rad or m]; default: the neutral position.
        v0 : (nv,) array_like, optional
            [rad/s or m/s]; default: at rest.
        nodes, velocities : (n, 3) array_like, optional
            Start of all nodes, body after body [m, m/s]; default: the shape at rest, without velocity.
        x0 : (nx,) array_like, optional
            Internal states of the model's force elements [as the elements define them]; default: their own.
        integrator : str or Adaptive
            "linearly_implicit": Euler's method with ``M + h D + h^2 K``, stable at any stiffness, of order 1; "bdf1"
            and "bdf2": implicit Euler and BDF2 by Newton's method; "semi_implicit": explicit forces, of order 1;
            "adaptive" or ``kt.integrators.Adaptive(...)``: explicit or implicit methods of SciPy within tolerances.
        controller : callable, optional
            ``controller(t, q, v)`` gives the actuator forces of the model at the start of each step.
        inputs : Inputs, optional
            Actuator forces, external wrenches and inputs of force elements of the model, as for `kinetree.simulate`.
        record : Record
            Which steps are recorded.
        progress : bool, optional
            Whether to show a progress bar; default: of runs longer than a second, in a terminal.

        Returns
        -------
        CoupledRun

        Raises
        ------
        ArgumentError, UnknownNameError
        SimulationError
            The state is not finite any more, or Newton's method does not converge.

        Notes
        -----
        Source: Sueda, section 2.7 and eq. 2.72-2.79; Baraff and Witkin (1998). Attached nodes are on their frames
        exactly at all times. Slopes leave out that of ``J_a^T f`` by the joint positions, and that of gravity and
        Coriolis forces in "linearly_implicit". Internal states of force elements take linearly implicit steps, of order
        1, before the others.
        """
        start = self.state(q0, v0, nodes, velocities, x0)
        notes = self.notes + (self._stretched(start) if nodes is None else ())
        return simulated(self, start, duration, dt, integrator, controller, inputs, record, progress, notes)

    def _stretched(self, start) -> tuple[str, ...]:
        """Notes on bodies of which attached nodes start far from where they lie at rest, and the others do not."""
        found = []
        for body, first in zip(self.bodies, self.starts, strict=False):
            away = start.x[first : first + len(body.nodes)] - body.nodes
            size, far = np.ptp(body.nodes, axis=0).max(), np.linalg.norm(away, axis=1).max()
            if far > FAR * size:
                found.append(
                    f"attached nodes of {body.name!r} start {far:.3g} m from where they lie at rest, the others where "
                    f"they do: it starts stretched, with {float(self.elements.elastic_energy(start.x)):.3g} J in all. "
                    "Place it by origin= and rotation=, by Coupled(q=) or by nodes="
                )
        return tuple(found)

    @checked(duration=a_positive_number, dt=a_positive_number, numbers=some_names)
    def rollout_gradient(
        self,
        duration: float,
        dt: float,
        q0=None,
        v0=None,
        *,
        running: Callable | None = None,
        terminal: Callable | None = None,
        nodes=None,
        velocities=None,
        x0=None,
        tau=None,
        control=None,
        numbers: Sequence[str] = (),
        integrator: str = "linearly_implicit",
    ) -> DeformableGradient:
        """The objective of a simulation of the deformables and the model, and its gradient.

        Parameters
        ----------
        duration, dt : float
            [s]
        q0 : (nq,) array_like, optional
            Positions of the joints [rad or m]; default: the neutral position.
        v0 : (nv,) array_like, optional
            [rad/s or m/s]; default: at rest.
        running, terminal : callable, optional
            Scalar functions of an instant s, at the start of each step and at the end: ``s.position(node, body)`` and
            ``s.velocity(node, body)`` are vectors of scalars, ``s.q``, ``s.v`` and ``s.tau`` lists. They are traced:
            they branch by `kinetree.spatial.scalar.where`.
        nodes, velocities : (n, 3) array_like, optional
            Start of all nodes, body after body [m, m/s]; default: the shape at rest, without velocity.
        x0 : (nx,) array_like, optional
            Internal states of the model's force elements [as the elements define them]; default: their own.
        tau : (T, nv) or (nv,) array_like, optional
            Actuator forces during each step, or during all [N m or N]; default: none.
        control : (T, nu) or (nu,) array_like, or mapping, optional
            Inputs of force elements [as the elements define them], by name as for `kinetree.rollout`.
        numbers : sequence of str
            Which of the model's numbers are variables, of ``coupled.model.numbers().names``, with ``*`` and ``?``.
        integrator : {"linearly_implicit", "bdf1", "bdf2", "semi_implicit"}
            As of `simulate`.

        Returns
        -------
        DeformableGradient
            By the start of joints and nodes, the inputs, masses of nodes, the parameters of all elements, and numbers.

        Raises
        ------
        ArgumentError, UnknownNameError, ShapeError
        SimulationError
            The motion or the gradient is not finite.
        UnsupportedError
            With BDF, the model has loops, coupled joints, or joints with several charts.

        Notes
        -----
        The objective is ``J = terminal(s_T) + dt sum_k running(s_k)``, k = 0 to T - 1. The gradient is that of the
        discrete motion, by the adjoint of each step: one sparse solution, by the step's own factors in
        "linearly_implicit", by GMRES preconditioned with the step's matrix in "bdf1" and "bdf2". Where an eigenvalue of
        the second derivative of an energy is zero, as those of rotations at rest, the matrix of "linearly_implicit"
        steps has a kink, and the mean of both slopes is taken. Attached nodes go through the joints that move them:
        their starts have no derivatives, their masses have. With loops those by q0 and v0 hold along
        changes that keep them closed.

        Examples
        --------
        The slope of the end of a falling rope by the stiffness of its springs:

        >>> import kinetree as kt
        >>> rope = kt.deformables.strand((0, 0, 0), (1, 0, 0), 4, mass=0.2, axial_stiffness=50.0, fixed=[0])
        >>> scene = kt.deformables.Coupled(None, rope)
        >>> found = scene.rollout_gradient(0.2, 1e-2, terminal=lambda s: s.position(4).z)
        >>> found.elements["strand", "spring"]["stiffness"].shape, found.nodes.shape, bool(found.value < -0.1)
        ((4,), (5, 3), True)

        On the end of a pendulum, by its angle at the start and the torque of each step:

        >>> rope = kt.deformables.strand((0, 0, -1), (0.5, 0, -1), 4, mass=0.2, axial_stiffness=50.0)
        >>> hook = kt.deformables.Attachment(0, "bob", at=(0, 0, -1))
        >>> scene = kt.deformables.Coupled(kt.models.pendulum(), rope, hook)
        >>> found = scene.rollout_gradient(0.2, 1e-2, [0.3], terminal=lambda s: s.position(4).z + s.v[0] ** 2)
        >>> found.q0.shape, found.tau.shape
        ((1,), (20, 1))
        """
        steps = max(1, round(duration / dt))
        if abs(steps * dt - duration) > 1e-6 * dt * steps:
            refuse("rollout_gradient: duration", duration, f"a multiple of dt = {dt:g} s")
        for what, function in (("running", running), ("terminal", terminal)):
            if function is not None:
                a_callable(f"rollout_gradient: {what}", function)
        start = self.state(q0, v0, nodes, velocities, x0)
        check_states(start, steps)
        inputs = self._over_time(tau, control, steps)
        return node_gradient(self, start, *inputs, steps, dt, integrator, running, terminal, numbers)

    def _over_time(self, tau, control, steps: int) -> list[np.ndarray]:
        """Actuator forces (T, nv) and inputs (T, nu) of all steps."""
        model, found = self.model, []
        if model is not None:
            control = control_over_time(model, control)
        for name, value, size in (("tau", tau, "nv"), ("control", control, "nu")):
            if value is not None and model is None:
                raise SimulationError(f"rollout_gradient: {name} is given, but there is no model.")
            size = 0 if model is None else getattr(model, size)
            value = np.zeros(size) if value is None else array(f"rollout_gradient: {name}", value)
            if value.shape not in ((size,), (1, size), (steps, size)):
                raise ShapeError(
                    f"rollout_gradient: {name} has shape {value.shape}, expected ({steps}, {size}) for {steps} steps, "
                    f"or ({size},) for all.",
                    found=value.shape,
                )
            if not np.isfinite(value).all():
                raise NonFiniteError(f"rollout_gradient: {name} must be finite.", name=name)
            found.append(np.ascontiguousarray(np.broadcast_to(value, (steps, size))))
        return found

    def point_mass_model(self):
        """An ordinary model of the same scene, if all elements are springs.

        Each free node is a point mass on a translational joint, named as "strand 3"; its coordinates are the
        displacement from its rest. Attached nodes are payloads of their bodies, springs are force elements.

        Returns
        -------
        Model

        Raises
        ------
        UnsupportedError
            Other elements than springs, or springs with viscosity.

        Notes
        -----
        It is compiled as a whole: of some ten nodes steps take a fiftieth of the time, and rollouts, derivatives and
        exports work; compilation takes seconds and grows with the number of nodes.

        Examples
        --------
        >>> import kinetree as kt
        >>> rope = kt.deformables.strand((0, 0, 0), (1, 0, 0), 2, mass=0.3, axial_stiffness=100.0, fixed=[0])
        >>> model = kt.deformables.Coupled(None, rope).point_mass_model()
        >>> model.joint_names, [force.rest_length for force in model.forces if force.kind == "point_spring"]
        (('strand 1', 'strand 2'), [0.5, 0.5])
        """
        return point_mass_model(self)
