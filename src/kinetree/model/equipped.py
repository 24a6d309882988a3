"""The equipment of a model by its kinds: loop joints, equalities, tendons, actuators, keyframes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.arguments import a_name, checked
from kinetree.errors import ModelError, unknown_name
from kinetree.model.equipment import Actuator, Equality, LoopJoint, RotationLimit, Tendon


class Equipped:
    """Base of models: the parts of ``equipment`` as attributes."""

    __slots__ = ()

    @property
    def loops(self) -> tuple[LoopJoint, ...]:
        """Joints that close loops."""
        return self.equipment.loops

    @property
    def equalities(self) -> tuple[Equality | RotationLimit, ...]:
        """Polynomial couplings of joints or tendons as data, and limits of rotations, which are not computed yet."""
        return self.equipment.equalities

    @property
    def tendons(self) -> tuple[Tendon, ...]:
        """Lengths that depend on the position, with the forces along them."""
        return self.equipment.tendons

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """Actuators, as data; those that are computed are force elements, `actuator_names`."""
        return self.equipment.actuators

    def with_actuators(self, *actuators: Actuator):
        """A copy with further actuators.

        Parameters
        ----------
        *actuators : Actuator
            See `kinetree.model.Actuator`.

        Returns
        -------
        Model

        Raises
        ------
        ModelError, UnknownNameError, DuplicateNameError

        Examples
        --------
        >>> import kinetree as kt
        >>> servo = kt.model.Actuator("servo", "joint", "elbow", gain_parameters=(50.0,), bias="affine",
        ...                           bias_parameters=(0.0, -50.0, -2.0), force_range=(-20.0, 20.0))
        >>> arm = kt.models.double_pendulum().with_actuators(servo)
        >>> arm.input_names, kt.dynamics.actuator_forces(arm, [0.0, 0.1], [0.0, 0.0], u=[0.3]).tolist()
        (('servo',), [10.0])
        """
        for actuator in actuators:
            if not isinstance(actuator, Actuator):
                raise ModelError(f"model {self.name!r}: {actuator!r} is no kinetree.model.Actuator")
        equipment = replace(self.equipment, actuators=(*self.equipment.actuators, *actuators))
        return self.replace(equipment=equipment)

    @property
    def keyframes(self) -> tuple[str, ...]:
        """Names of the states that come with the model; see ``keyframe``."""
        return tuple(key.name for key in self.equipment.keyframes)

    @checked(name=a_name)
    def keyframe(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A state that comes with the model.

        Parameters
        ----------
        name : str
            One of ``keyframes``.

        Returns
        -------
        q : (nq,) array
            [rad or m]; neutral where the keyframe has none.
        v : (nv,) array
            [rad/s or m/s]; zero where it has none.

        Raises
        ------
        UnknownNameError
        """
        key, q, v = self._key(name), self.neutral(), np.zeros(self.nv)
        for joint, x in key.q.items():
            q[self.q_index(joint)] = x
        for joint, x in key.v.items():
            v[self.v_index(joint)] = x
        return q, v

    @checked(name=a_name)
    def keyframe_controls(self, name: str) -> dict[str, float]:
        """The controls that come with a state of the model, for ``kt.Inputs(control=...)``.

        Parameters
        ----------
        name : str
            One of ``keyframes``.

        Returns
        -------
        dict of str to float
            By names of ``input_names``; those of actuators that the keyframe does not name are left out.

        Raises
        ------
        UnknownNameError
        """
        key, found = self._key(name), {}
        for law in (law for element in self.elements if element.actuates for law in element.laws):
            found |= zip(law.input_labels, key.controls.get(law.name, ()), strict=False)
        return found

    @checked(name=a_name)
    def keyframe_activations(self, name: str) -> np.ndarray:
        """The internal states that come with a state of the model.

        Parameters
        ----------
        name : str
            One of ``keyframes``.

        Returns
        -------
        (nx,) array
            In the order of ``state_names`` [as the elements define them]; those that the keyframe does not give as in
            ``initial_state``.

        Raises
        ------
        UnknownNameError
        """
        key, x = self._key(name), self.initial_state()
        for actuator, values in key.activations.items():
            if actuator in self.actuator_names and len(values) == len(x[self.x_index(actuator)]):
                x[self.x_index(actuator)] = values
        return x

    def _key(self, name: str):
        key = next((key for key in self.equipment.keyframes if key.name == name), None)
        if key is None:
            raise unknown_name("keyframe", name, self.keyframes, f"model {self.name!r}")
        return key
