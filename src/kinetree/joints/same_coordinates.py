"""Joints that wrap another joint and have its coordinates."""

from __future__ import annotations


class SameCoordinates:
    """A joint whose coordinates are those of the joint that it wraps, ``self.joint``; a base before ``Joint``."""

    __slots__ = ()

    @property
    def nq(self) -> int:
        return self.joint.nq

    @property
    def nv(self) -> int:
        return self.joint.nv

    @property
    def several_charts(self) -> bool:
        return self.joint.several_charts

    def q_dot(self, q, v):
        return self.joint.q_dot(q, v)

    def integrate(self, q, dv):
        return self.joint.integrate(q, dv)

    def difference(self, q0, q1):
        return self.joint.difference(q0, q1)

    def tangent_rate(self, xi, v):
        return self.joint.tangent_rate(xi, v)

    def neutral(self):
        return self.joint.neutral()

    def random(self, rng):
        return self.joint.random(rng)

    def normalize(self, q):
        return self.joint.normalize(q)

    def defect(self, q):
        return self.joint.defect(q)

    def reparameterize(self, q, v):
        return self.joint.reparameterize(q, v)

    @property
    def position_names(self) -> tuple[str, ...]:
        return self.joint.position_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return self.joint.velocity_names

    @property
    def position_units(self) -> tuple[str, ...]:
        return self.joint.position_units

    @property
    def velocity_units(self) -> tuple[str, ...]:
        return self.joint.velocity_units
