"""The force elements and limits of a tree, and the internal states and inputs of the elements."""

from __future__ import annotations

from itertools import accumulate, pairwise

from kinetree.arguments import a_name, whole
from kinetree.errors import unknown_name
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.muscle import Muscle
from kinetree.forces.tendon_force import TendonForce


class ForceParts:
    """Base of trees with ``joint_forces``, ``elements``, ``loop_forces`` and ``tendon_forces``."""

    __slots__ = ()

    @property
    def forces(self) -> tuple[ForceElement, ...]:
        """The force elements: those of the joints, joint by joint, `elements`, those in loop joints and of tendons."""
        at_joints = (force for at_joint in self.joint_forces for force in at_joint)
        return (*at_joints, *self.elements, *self.loop_forces, *self.acting_on_tendons)

    @property
    def nx(self) -> int:
        """Number of internal states of force elements."""
        return sum(len(element.states) for element in self.elements)

    @property
    def nu(self) -> int:
        """Number of inputs of force elements."""
        return sum(len(element.inputs) for element in self.elements)

    @property
    def nw(self) -> int:
        """Number of velocities and internal states, which integrators join."""
        return self.nv + self.nx

    def initial_internal(self) -> list:
        """The internal states where none are given."""
        return [x for element in self.elements for x in element.initial_state()]

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the internal states x, as "biceps.activation"."""
        return tuple(name for element in self.elements for name in element.state_labels)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs u of force elements, as "biceps.excitation"; of actuators their own names."""
        return tuple(name for element in self.elements for name in element.input_labels)

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the actuators that are computed, in the order of their inputs; of orientations "<name>.x" etc."""
        laws = (law for element in self.elements if element.actuates for law in element.laws)
        return tuple(name for law in laws for name in law.output_labels)

    @property
    def element_names(self) -> tuple[str, ...]:
        """Names of the elements with laws: the rows of ``kt.dynamics.forces_by_element``."""
        return tuple(element.name for element in self.laws)

    @property
    def n_elements(self) -> int:
        """Number of the elements with laws."""
        return len(self.laws)

    @property
    def n_actuators(self) -> int:
        """Number of the actuators that are computed."""
        return sum(law.outputs for element in self.elements if element.actuates for law in element.laws)

    def x_index(self, force: str) -> slice:
        """The entries of x that belong to a force element, by name: ``x[..., model.x_index("biceps")]``.

        Parameters
        ----------
        force : str

        Returns
        -------
        slice
            Of the last axis of x, shape (..., nx).

        Raises
        ------
        UnknownNameError
            The model has no force element of this name.
        """
        return self._labeled(force, self.state_names) or self._internal_slices("states")[self._element(force)]

    def u_index(self, force: str) -> slice:
        """The entries of u that belong to a force element, by name: ``u[..., model.u_index("biceps")] = 0.5``.

        Parameters
        ----------
        force : str

        Returns
        -------
        slice
            Of the last axis of u, shape (..., nu).

        Raises
        ------
        UnknownNameError
            The model has no force element of this name.
        """
        return self._labeled(force, self.input_names) or self._internal_slices("inputs")[self._element(force)]

    def _labeled(self, force: str, labels: tuple[str, ...]) -> slice | None:
        """The entries with the name of one of several actuators in an element."""
        if force not in self.actuator_names:
            return None
        found = [k for k, label in enumerate(labels) if label == force or label.rpartition(".")[0] == force]
        return slice(found[0], found[-1] + 1) if found else None

    def _element(self, force: str) -> int:
        a_name("force", force)
        names = [element.name for element in self.elements]
        if force not in names:
            raise unknown_name("force element", force, names, f"model {self.name!r}")
        return names.index(force)

    def _internal_slices(self, what: str) -> list[slice]:
        ends = [0, *accumulate(len(getattr(element, what)) for element in self.elements)]
        return [slice(*each) for each in pairwise(ends)]

    def internal_places(self) -> list[tuple]:
        """Each of `elements` with its entries of x."""
        return list(zip(self.elements, self._internal_slices("states"), strict=True))

    def with_internal(self, x=None, u=None) -> list[tuple]:
        """Each element with its parts of x and u, by default its initial states and zero; last loops and tendons."""
        found = [
            (
                element,
                list(element.initial_state() if x is None else x[x_slice]),
                [0.0] * len(element.inputs) if u is None else list(u[u_slice]),
            )
            for (element, x_slice), u_slice in zip(self.internal_places(), self._internal_slices("inputs"), strict=True)
        ]
        return [*found, *((force, [], []) for force in (*self.acting_in_loops, *self.acting_on_tendons))]

    @property
    def laws(self) -> tuple[ForceElement, ...]:
        """The `elements` whose forces depend on positions and velocities, then those in loop joints and of tendons."""
        elements = (element for element in self.elements if not element.commanded)
        return (*elements, *self.acting_in_loops, *self.acting_on_tendons)

    @property
    def n_tendons(self) -> int:
        """Number of tendons whose lengths are computed."""
        return len(self.tendon_forces)

    @property
    def tendon_names(self) -> tuple[str, ...]:
        """Names of the tendons whose lengths are computed: all but those without a path."""
        return tuple(force.name.removeprefix("tendon ") for force in self.tendon_forces)

    @property
    def acting_on_tendons(self) -> tuple[ForceElement, ...]:
        """The elements of those tendons that have forces."""
        return tuple(force for force in self.tendon_forces if force.acts)

    @property
    def armatures(self) -> tuple[ForceElement, ...]:
        """The elements along paths, those of tendons included, that have inertia."""
        along = (*self.elements, *self.tendon_forces)
        return tuple(each for each in along if isinstance(each, TendonForce) and present(each.armature))

    @property
    def acting_in_loops(self) -> tuple[ForceElement, ...]:
        """The forces in loop joints whose place no constraint takes."""
        bounds = [c for c in self.constraints if c.replaces_in_loops]
        return tuple(force for force in self.loop_forces if not any(c.takes(self, force) for c in bounds))

    def loop_coefficients(self, parameter: str) -> dict[str, tuple]:
        """The values of a parameter of loop joints by their names, over the numbers of this tree."""
        found = {force.joint: dict(force.values) for force in self.loop_forces if parameter in dict(force.values)}
        values = {joint: of[parameter] for joint, of in found.items()}
        return {joint: x if isinstance(x, tuple) else (x,) for joint, x in values.items()}

    def loop_has_stop(self, name: str) -> bool:
        """Whether a soft stop or a constraint gives the force at the limits of a loop joint."""
        bounds = [c for c in self.constraints if c.replaces_in_loops == "limit_stiffness"]
        return self.loop_joint(name).has_stop or any(not c.of or name in c.of for c in bounds)

    @property
    def motors(self) -> tuple[ForceElement, ...]:
        """The `elements` that deliver commanded joint forces."""
        return tuple(element for element in self.elements if element.commanded)

    @property
    def muscles(self) -> tuple[Muscle, ...]:
        """The `elements` that are muscles, the rows of lengths, moment arms and tensions."""
        return tuple(element for element in self.elements if isinstance(element, Muscle))

    @property
    def n_muscles(self) -> int:
        """Number of muscles."""
        return len(self.muscles)

    def has_limit(self, k: int) -> bool:
        """Whether velocity coordinate k has a lower or an upper position limit."""
        return self._limited[_coordinate("has_limit", k, self.nv)]

    def has_stop(self, k: int) -> bool:
        """Whether an element or a constraint gives the force at the limits of velocity coordinate k."""
        _coordinate("has_stop", k, self.nv)
        if any(c.replaces == "limit_stiffness" and k in c.coordinates(self) for c in self.constraints):
            return True
        i = next(i for i in range(1, self.nb) if k < self.v_slice[i].stop)
        m = k - self.v_slice[i].start
        return any(
            force.beyond_limits and present(getattr(force, force.parameters[0].name)[m])
            for force in self.joint_forces[i]
        )


def _coordinate(what: str, k: int, nv: int) -> int:
    coordinate = "the number of a velocity coordinate: Model.v_index(joint) gives it"
    return whole(f"{what}: k", k, coordinate, least=0, most=nv - 1)
