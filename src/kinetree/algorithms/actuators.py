"""Lengths, velocities, moments and forces of the actuators of a model, in the order of ``model.actuator_names``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.algorithms.force_elements import element_forces
from kinetree.algorithms.leaves import Leaves, paired, scalars
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics
from kinetree.trace.differentiate import adjoints
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph


@dataclass
class Transmitted:
    """The transmission of an element in a state, all without gear.

    Attributes
    ----------
    element : TransmittedForce or OrientationServo
    lengths, velocities : list of scalars
        One, which all actuators of the element share, or those of all outputs.
    rows : list of dict of int to scalar
        The velocities under a unit of each velocity coordinate.
    """

    element: object
    x: list
    u: list
    lengths: list
    velocities: list
    rows: list[dict[int, object]]

    def of_outputs(self, values: list) -> Iterator[tuple]:
        """The gear and the value of every output."""
        gears = [law.gear for law in self.element.laws for _ in range(law.outputs)]
        return zip(gears, values if len(values) == len(gears) else values * len(gears), strict=True)

    def forces(self) -> list:
        """The force of every output."""
        of = self.lengths, self.velocities
        of = of if len(self.lengths) > 1 else (self.lengths[0], self.velocities[0])
        return self.element.actuator_forces(*of, self.x, self.u)


def transmissions(model, q, v=None, x=None, u=None) -> Iterator[Transmitted]:
    """The transmissions of all actuators."""
    kin = Kinematics(model, q, v)
    for element, x_e, u_e in model.with_internal(x, u):
        if element.actuates:
            yield _transmitted(kin, element, x_e, u_e)


def _transmitted(kin: Kinematics, element, x, u) -> Transmitted:
    graph, numbers = Graph(), list(element.numbers().values())
    symbols = [value if isinstance(value, float) else graph.param(j) for j, value in enumerate(numbers)]
    leaves = Leaves(graph, element, numbers)
    both = element.with_numbers(symbols).transmitted(leaves)
    nodes = [[each.id if isinstance(each, Expr) else graph.const(float(each)) for each in part] for part in both]
    moving, rows = leaves.velocities, []
    for node in nodes[1]:
        row: dict[int, object] = {}
        for leaf, ids in paired(moving, adjoints(graph, {node: graph.ONE}, scalars(moving))):
            weights = leaves.outer(ids, kin)
            for k, column in leaf.columns(kin).items():
                for weight, rate in zip(weights, column, strict=True):
                    if not is_zero(weight) and not is_zero(rate):
                        row[k] = row.get(k, 0.0) + weight * rate
        rows.append(row)
    return Transmitted(element, x, u, *(leaves.outer(part, kin) for part in nodes), rows)


@algorithm(
    inputs="q",
    outputs={"lengths": ("n_actuators",)},
    body_frames="laws",
    symbols={"lengths": "Of each actuator of ``model.actuator_names`` [m or rad, times its gear]."},
)
def actuator_lengths(model, q):
    """Lengths of the actuators: positions of joints, lengths of tendons and others, times the gear.

    Notes
    -----
    Source: MuJoCo, "Computation: Transmission", ``actuator_length``. Frames without a reference, and free joints, have
    the length 0.

    See Also
    --------
    actuator_velocities, actuator_moments, actuator_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> slider = kt.ModelBuilder("slider")
    >>> slider.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="x", mass=1.0)
    >>> motor = kt.model.Actuator("motor", "joint", "x", gear=(2.0, 0, 0, 0, 0, 0), gain_parameters=(100.0,))
    >>> model = slider.build().replace(equipment=kt.model.Equipment(actuators=(motor,)))
    >>> with kt.interpreted():  # the position, times the gear
    ...     print(kt.dynamics.actuator_lengths(model, [0.1]))
    [0.2]
    """
    return [gear * x for each in transmissions(model, q) for gear, x in each.of_outputs(each.lengths)]


@algorithm(
    inputs="q v",
    outputs={"velocities": ("n_actuators",)},
    body_frames="laws",
    symbols={"velocities": "Of each actuator of ``model.actuator_names`` [m/s or rad/s, times its gear]."},
)
def actuator_velocities(model, q, v):
    """Velocities along which the forces of the actuators give power.

    Notes
    -----
    Source: MuJoCo, "Computation: Transmission", ``actuator_velocity``. Identity: ``actuator_moments(q) @ v``. Rates of
    the lengths, but for frames with a reference and ball joints.

    See Also
    --------
    actuator_lengths, actuator_moments, actuator_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> slider = kt.ModelBuilder("slider")
    >>> slider.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="x", mass=1.0)
    >>> motor = kt.model.Actuator("motor", "joint", "x", gear=(2.0, 0, 0, 0, 0, 0), gain_parameters=(100.0,))
    >>> model = slider.build().replace(equipment=kt.model.Equipment(actuators=(motor,)))
    >>> with kt.interpreted():
    ...     print(kt.dynamics.actuator_velocities(model, [0.1], [3.0]))
    [6.]
    """
    return [gear * x for each in transmissions(model, q, v) for gear, x in each.of_outputs(each.velocities)]


@algorithm(
    inputs="q",
    outputs={"moments": ("n_actuators", "nv")},
    body_frames="laws",
    symbols={"moments": "Rows: joint forces by a unit of force of each actuator of ``model.actuator_names`` [m or 1]."},
)
def actuator_moments(model, q):
    """Moment arms of the actuators, with their gears.

    Notes
    -----
    Source: MuJoCo, "Computation: Transmission", ``actuator_moment``. The joint forces of all actuators are
    ``actuator_moments(q).T @ actuator_forces(q, v)`` where no joint has a range of actuator forces.

    See Also
    --------
    actuator_lengths, actuator_velocities, actuator_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> slider = kt.ModelBuilder("slider")
    >>> slider.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="x", mass=1.0)
    >>> motor = kt.model.Actuator("motor", "joint", "x", gear=(2.0, 0, 0, 0, 0, 0), gain_parameters=(100.0,))
    >>> model = slider.build().replace(equipment=kt.model.Equipment(actuators=(motor,)))
    >>> with kt.interpreted():  # a row for each actuator
    ...     print(kt.dynamics.actuator_moments(model, [0.1]))
    [[2.]]
    """
    # Columns of zeros are structural ones.
    return [
        [gear * row[k] if k in row else 0.0 for k in range(model.nv)]
        for each in transmissions(model, q)
        for gear, row in each.of_outputs(each.rows)
    ]


@algorithm(
    inputs="q v",
    optional="x u",
    outputs={"forces": ("n_actuators",)},
    body_frames="laws",
    symbols={"forces": "Of each actuator of ``model.actuator_names`` [N or N m]."},
)
def actuator_forces(model, q, v, x=None, u=None):
    """Forces of the actuators along their lengths, positive where they lengthen.

    Notes
    -----
    Source: MuJoCo, "Computation: Actuation model", ``actuator_force``: ``gain(length, velocity) input + bias(length,
    velocity)``, clamped. Inputs u are zero unless they are given.

    See Also
    --------
    actuator_lengths, actuator_moments, actuator_joint_forces

    Examples
    --------
    >>> import kinetree as kt
    >>> slider = kt.ModelBuilder("slider")
    >>> slider.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="x", mass=1.0)
    >>> motor = kt.model.Actuator("motor", "joint", "x", gear=(2.0, 0, 0, 0, 0, 0), gain_parameters=(100.0,))
    >>> model = slider.build().replace(equipment=kt.model.Equipment(actuators=(motor,)))
    >>> with kt.interpreted():  # before the gear
    ...     print(kt.dynamics.actuator_forces(model, [0.1], [0.0], u=[0.5]).round(9))
    [50.]
    """
    return [f for each in transmissions(model, q, v, x, u) for f in each.forces()]


@algorithm(
    inputs="q v",
    optional="x u",
    outputs="tau",
    body_frames="laws",
    symbols={"tau": "Joint forces of all actuators [N m or N]."},
)
def actuator_joint_forces(model, q, v, x=None, u=None):
    """Joint forces of the actuators, within the ranges of the joints.

    Notes
    -----
    Source: MuJoCo, "Computation: Actuation model", ``qfrc_actuator``.

    See Also
    --------
    actuator_forces, actuator_moments

    Examples
    --------
    >>> import kinetree as kt
    >>> slider = kt.ModelBuilder("slider")
    >>> slider.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="x", mass=1.0)
    >>> motor = kt.model.Actuator("motor", "joint", "x", gear=(2.0, 0, 0, 0, 0, 0), gain_parameters=(100.0,))
    >>> model = slider.build().replace(equipment=kt.model.Equipment(actuators=(motor,)))
    >>> with kt.interpreted():  # gear 2, gain 100 N
    ...     print(kt.dynamics.actuator_joint_forces(model, [0.1], [0.0], u=[0.5]).round(9))
    [100.]
    """
    return element_forces(model, q, v, x, u, actuators=True)
