"""Exudyn: coordinates count from reference values, and a rigid body's velocities are rates of Euler parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.arguments import a_mapping, a_model, array, checked, number, whole
from kinetree.conventions.coordinate_maps import Displaced, EulerParameters
from kinetree.conventions.engine import Engine
from kinetree.conventions.pairing import paired, refuse_kind
from kinetree.joints import Free, Helical, Prismatic, Revolute
from kinetree.model.parts import pose_of_transform


class Exudyn(Engine):
    """Arrays of an Exudyn system: rigid bodies with Euler parameters, and joints of one coordinate.

    Parameters
    ----------
    model : Model
    places : mapping of str to int
        The first coordinate of each joint in the system's ODE2 coordinates: of a free joint, that of its
        ``NodeRigidBodyEP``; of the joints of an ``ObjectKinematicTree``, those of its node in the order of its lists.
    reference : mapping of str to number or (7,) array, optional
        Reference coordinates of the nodes, by joint; by default zeros, and (0, 0, 0, 1, 0, 0, 0) of a free joint.

    Raises
    ------
    ModelError
        A joint has no place, or is of a kind that Exudyn's nodes do not have.

    Notes
    -----
    A free body has seven velocities there, which obey ``quaternion . d quaternion/dt = 0``: T has a left inverse, and
    forces come back from forces on Euler parameters. `M_to` gives a matrix of rank 6; Exudyn adds the constraint as an
    algebraic equation. External wrenches are (force; moment) in world axes about the body's origin: loads at markers.
    """

    name = "Exudyn"
    angular_first = False

    @checked(model=a_model, places=a_mapping, reference=a_mapping)
    def __init__(self, model, places: Mapping[str, int], reference: Mapping[str, float | Sequence] | None = None):
        reference = dict(reference or {})
        for name in (*places, *reference):
            model.joint(name)
        pairs, bodies, count = [], [0] + [-1] * (model.nb - 1), 0
        for i, place in paired(self, model, places, ()):
            joint, name = model.joints[i], model.joint_name(i)
            what = f"{self.name}: reference of joint {name!r}"
            whole(f"{self.name}: place of joint {name!r}", place, "a whole number that is not negative", least=0)
            if isinstance(joint, Free) and model.parent[i] == 0:
                at = pose_of_transform(model.X_T[i])
                values = reference.get(name, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
                mapping = EulerParameters(*at, array(what, values, "an array of real numbers", shape=(7,)))
            elif isinstance(joint, (Revolute, Prismatic, Helical)):
                mapping = Displaced(number(what, reference.get(name, 0.0)))
            else:
                refuse_kind(self, model, i, name, "coordinates of an ODE2 node")
            pairs.append((i, mapping, place, place))
            bodies[i] = count = count + 1
        super().__init__(model, self._slots(model, pairs), bodies)
