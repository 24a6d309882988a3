"""Constraints of a model as equalities of joints and tendons, which MJCF files have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.constraints import Distance, LinearCoupling, PolynomialCoupling, TendonLength
from kinetree.io.free_names import Names
from kinetree.io.writing import UnsupportedFeatures
from kinetree.model import Equality, ModelBuilder, Tendon
from kinetree.tendons import JointTerm, ViaPoint


def with_equalities(model, features: UnsupportedFeatures):
    """The model with its constraints as equalities as far as there are such; the others are features that are lost.

    Parameters
    ----------
    model : Model
    features : UnsupportedFeatures
    """
    own = [c for c in model.own_constraints if c.kind != "coupling"]
    if not own:
        return model
    made = _Made(model)
    for c in own:
        if not made.add(c):
            features.add("constraints", str(c))
    builder = ModelBuilder.of(model)
    for name, (body, R, p) in made.frames.items():
        builder.add_frame(name, body, (R, p))
        features.note(f"site {name!r}", "made for the end of a rod, whose place there has no frame")
    builder._constraints = list(model.couplings)
    equipment = builder.equipment
    tendons, equalities = (*equipment.tendons, *made.tendons), (*equipment.equalities, *made.equalities)
    builder.equipment = replace(equipment, tendons=tendons, equalities=equalities)
    return builder.build()


class _Made:
    """Tendons, equalities and frames that stand for constraints."""

    def __init__(self, model) -> None:
        self.model, self.frames = model, {}
        self.tendons: list[Tendon] = []
        self.equalities: list[Equality] = []
        self._tendon_names = Names(tendon.name for tendon in model.tendons)
        self._frame_names = Names(frame.name for frame in model.frames)
        self._names = Names(c.name for c in (*model.equalities, *model.loops))

    def add(self, c) -> bool:
        """Whether there is an equality for a constraint."""
        if isinstance(c, PolynomialCoupling):
            self._equality(c, "joint", c.joint, c.master, c.coefficients, c.joint_reference, c.master_reference)
        elif isinstance(c, TendonLength):
            master = self._tendon(c, c.master) if c.master else None
            tendon = self._tendon(c, c.path)
            self._equality(c, "tendon", tendon, master, c.coefficients, c.reference, c.master_reference)
        elif isinstance(c, LinearCoupling):
            path = tuple(map(JointTerm, c.joints, c.ratios))
            self._equality(c, "tendon", self._tendon(c, path), None, (c.total,), 0.0, 0.0)
        elif isinstance(c, Distance):
            ends = tuple(self._point(c, *end) for end in ((c.predecessor, c.at_P), (c.successor, c.at_S)))
            self._equality(c, "tendon", self._tendon(c, ends), None, (c.length,), 0.0, 0.0)
        else:
            return False
        return True

    def _equality(self, c, *data) -> None:
        self.equalities.append(Equality(self._names.new(c.name or c.kind), *data))

    def _tendon(self, c, path) -> str:
        name = self._tendon_names.new(c.name or c.kind)
        self.tendons.append(Tendon(name, path))
        return name

    def _point(self, c, frame: str, at) -> ViaPoint:
        if not any(at):
            return ViaPoint(frame)
        name, place = self._frame_names.new(f"{c.name or c.kind}_end"), self.model.frame(frame)
        p = place.p_BF + place.R_BF @ np.array(at, dtype=float)
        self.frames[name] = self.model.body_names[place.body], place.R_BF, p
        return ViaPoint(name)
