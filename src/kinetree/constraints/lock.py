"""A joint that stays where it is."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import text
from kinetree.constraints.contract import Constraint
from kinetree.errors import ModelError


@dataclass(frozen=True, slots=True)
class Lock(Constraint):
    """A joint that stays at its position: ``v = 0``.

    Parameters
    ----------
    joint : str
    name : str

    Notes
    -----
    Eliminated: the joint's velocities are no unknowns. Its multipliers are the forces that hold it. To fix a joint at a
    given position for good, and merge its bodies, use `kinetree.surgery.lock`.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum().with_constraints(kt.constraints.Lock("elbow"))
    >>> a, force = kt.forward_dynamics(arm, [1.0, 0.0], [0.0, 0.0], [0.0, 0.0], multipliers=True)
    >>> bool(a[1] == 0.0), force.shape
    (True, (1,))
    """

    joint: str
    name: str = ""

    verb = "locked"

    def __post_init__(self) -> None:
        text("lock: joint", self.joint, "the name of a joint")

    def check(self, model) -> None:
        """The joint can move."""
        if not self.count(model):
            raise ModelError(f"{self}: the joint has no freedoms", joint=self.joint)

    def count(self, model) -> int:
        """Velocities of the joint."""
        return model.joints[model.joint(self.joint)].nv

    def rows(self, kin) -> list[dict]:
        """1 at each velocity."""
        return [{k: 1.0} for k in kin.dofs(self.joint)]

    def bias(self, kin) -> list:
        """Zero."""
        return [0.0 for _ in kin.dofs(self.joint)]

    def velocity_map(self, kin) -> dict:
        """Each velocity of the joint is zero."""
        return {k: [] for k in kin.dofs(self.joint)}

    @classmethod
    def examples(cls, model, rng):
        """The second joint; the first and the last one."""
        names = [model.joint_name(i) for i in model.outward() if model.joints[i].nv]
        yield (cls(names[1]),)
        yield cls(names[0]), cls(names[-1])
