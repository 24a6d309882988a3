"""The kinematics of a state for constraints: coordinates of joints, and relative motions of frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.spatial import Motion, Transform


@dataclass(frozen=True, slots=True)
class RelativeMotion:
    """How a frame S moves relative to a frame P, in the coordinates of S.

    Attributes
    ----------
    X : Transform
        From P to S coordinates.
    columns : dict of int to Motion
        The relative twist for a unit of each velocity coordinate.
    velocity : Motion
    bias : Motion
        The apparent rate of ``velocity`` without accelerations of the joints.
    """

    X: Transform
    columns: dict[int, Motion]
    velocity: Motion
    bias: Motion


class Kinematics:
    """Leaves of one state, by name, computed when first used.

    Parameters
    ----------
    model : Model or ScalarModel
        At a time, if it depends on time.
    q, v : sequence of scalars
        v may be left out where only rows and residuals are needed.
    """

    def __init__(self, model, q: Sequence, v: Sequence | None = None) -> None:
        self.model, self.q, self.v = model, q, [0.0] * model.nv if v is None else v
        self._relative = {}

    @property
    def t(self):
        """The time [s]."""
        return self.model._clock[0]

    def dof(self, joint: str, n: int = 0) -> int:
        """The velocity coordinate that is the n-th of a joint."""
        return self.model.v_index(joint).start + n

    def dofs(self, joint: str) -> range:
        """The velocity coordinates of a joint."""
        slot = self.model.v_index(joint)
        return range(slot.start, slot.stop)

    def coordinate(self, joint: str, n: int = 0):
        """The n-th position coordinate of a joint."""
        return self.q[self.model.q_index(joint).start + n]

    def rate(self, joint: str, n: int = 0):
        """The n-th velocity coordinate of a joint."""
        return self.v[self.dof(joint, n)]

    def relative(self, predecessor: str, successor: str, X_P: Transform, X_S: Transform) -> RelativeMotion:
        """How a frame on the successor moves relative to one on the predecessor.

        Parameters
        ----------
        predecessor, successor : str
            Frames of the model.
        X_P, X_S : Transform
            From these to the frames P and S whose relative motion is computed.

        Notes
        -----
        Seen from the common ancestor of the two bodies, so that nothing large cancels far from the world's origin:
        with the twists of both frames relative to it, ``V = V_S - X V_P`` and ``dV = dV_S - X dV_P + V x X V_P``.
        """
        key = predecessor, successor, id(X_P), id(X_S)
        if key not in self._relative:
            self._relative[key] = self._seen(predecessor, successor, X_P, X_S)
        return self._relative[key]

    def _seen(self, predecessor, successor, X_P, X_S) -> RelativeMotion:
        P, S = (self.model.frame(name) for name in (predecessor, successor))
        ancestor = self.model.common_ancestor(P.body, S.body)
        X_Pc, P_columns, V_P, A_P = self._branch(ancestor, P.body, X_P @ P.X_FB)
        X_Sc, columns, V_S, A_S = self._branch(ancestor, S.body, X_S @ S.X_FB)
        X = X_Sc @ X_Pc.inverse()
        columns |= {k: -(X @ column) for k, column in P_columns.items()}
        X_V_P = X @ V_P
        V = V_S - X_V_P
        return RelativeMotion(X, columns, V, A_S - X @ A_P + V.cross(X_V_P))

    def _branch(self, ancestor: int, body: int, X: Transform):
        """Of a frame on a body, relative to an ancestor: the transform, twists per velocity, twist and its rate."""
        model, path = self.model, []
        while body != ancestor:
            path.append(body)
            body = model.parent[body]
        links = {i: model.joints[i].transform(model.q_of(i, self.q)) @ model.X_T[i] for i in path}
        V = A = model.algebra.Motion.zero()
        for i in reversed(path):
            joint, q_i, v_i = model.joints[i], model.q_of(i, self.q), model.v_of(i, self.v)
            v_J = joint.velocity(q_i, v_i)
            V = links[i] @ V + v_J
            A = links[i] @ A + joint.bias(q_i, v_i) + V.cross(v_J)
        X_of, columns = X, {}
        for i in path:
            S = model.joints[i].motion_subspace(model.q_of(i, self.q))
            columns |= {k: X_of @ S_k for k, S_k in zip(range(*model.v_slice[i].indices(model.nv)), S, strict=True)}
            X_of = X_of @ links[i]
        return X_of, columns, X @ V, X @ A
