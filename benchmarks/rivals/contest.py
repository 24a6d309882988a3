"""What a rival offers, and the robot that all are given."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

ARGUMENTS = {
    "rnea": ("q", "v", "a"),
    "bias_forces": ("q", "v"),
    "crba": ("q",),
    "aba": ("q", "v", "tau"),
    "rnea_derivatives": ("q", "v", "a"),
    "aba_derivatives": ("q", "v", "tau"),
}


class Absent(RuntimeError):
    """A rival is not installed, or cannot read this robot; the message says why. Not a failure of the benchmark."""


@dataclass
class Offer:
    """One way of one rival to compute a quantity.

    ``run(n)`` evaluates ``states`` states n times; ``result()`` gives the results of these states in kinetree's form,
    (states, entries), computed by the same code; ``build`` is what it took until the first result [s].
    """

    rival: str
    quantity: str
    mode: str  # "call": one state per call from Python; "loop": one per call of compiled code; "batch"
    run: Callable[[int], None] = field(repr=False)
    result: Callable[[], np.ndarray] = field(repr=False)
    states: int
    build: float
    tolerance: float = 1e-9
    note: str = ""
    reference: Callable[[], np.ndarray] | None = field(default=None, repr=False)  # where its inputs are its own


class Robot:
    """One robot: the URDF text that every engine reads, kinetree's model of it, and random states.

    The text is reduced to what dynamics needs: no meshes, no damping or friction, no mimic tags, every origin written;
    rotational inertias that no body can have are replaced by their diagonal.
    """

    def __init__(self, kt, name: str, path: str, floating: bool, states: int, seed: int, locked: str = "") -> None:
        self.kt, self.name, self.floating = kt, name, floating
        self.urdf = stripped(path, locked)
        self.model = kt.load(self.urdf, floating_base=floating, inertia="diagonal", name=name)
        rng = np.random.default_rng(seed)
        self.states = {"q": np.array([self.model.random_q(rng) for _ in range(states)])}
        for name_ in ("v", "a", "tau"):
            self.states[name_] = rng.standard_normal((states, self.model.nv))

    def rows(self, quantity: str, count: int) -> list[np.ndarray]:
        """The arguments of a quantity, for the first states."""
        return [self.states[name][:count] for name in ARGUMENTS[quantity]]


KEPT = {"link": ("inertial",), "joint": ("origin", "parent", "child", "axis", "limit")}
LIMITS = ("lower", "upper", "effort", "velocity")


def stripped(path: str, locked: str = "") -> str:
    """The URDF that all rivals are given; joints with `locked` in their names become fixed."""
    root = ET.parse(path).getroot()
    for joint in root.iter("joint") if locked else ():
        if locked in joint.get("name"):
            joint.set("type", "fixed")
    for element in list(root):
        if element.tag not in KEPT:
            root.remove(element)
            continue
        for child in list(element):
            if child.tag not in KEPT[element.tag]:
                element.remove(child)
    for element in [*root.iter("joint"), *root.iter("inertial")]:
        if element.find("origin") is None:
            ET.SubElement(element, "origin")
        origin = element.find("origin")
        for attribute in ("xyz", "rpy"):
            origin.set(attribute, origin.get(attribute, "0 0 0"))
    for limit in root.iter("limit"):
        for attribute in set(limit.keys()) - set(LIMITS):
            del limit.attrib[attribute]
    for inertia in root.iter("inertia"):
        if not possible(inertia):
            for entry in ("ixy", "ixz", "iyz"):
                inertia.set(entry, "0")
    return ET.tostring(root, encoding="unicode")


def possible(inertia: ET.Element) -> bool:
    """Whether the principal moments obey the triangle inequality."""
    xx, yy, zz, xy, xz, yz = (float(inertia.get(n, 0)) for n in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return moments[0] >= 0 and moments[0] + moments[1] >= moments[2] * (1 - 1e-6)


def loop(call: Callable, rows: list[tuple]) -> Callable[[int], None]:
    """``run(n)`` that calls ``call(*row)`` for every row."""

    def run(n: int) -> None:
        for _ in range(n):
            for row in rows:
                call(*row)

    return run


def repeated(call: Callable[[], object]) -> Callable[[int], None]:
    """``run(n)`` of a call without arguments."""

    def run(n: int) -> None:
        for _ in range(n):
            call()

    return run


def flat(parts) -> np.ndarray:
    """Results of a batch as one array (states, entries): an array or a tuple of arrays with the states first."""
    parts = parts if isinstance(parts, tuple) else (parts,)
    return np.concatenate([np.reshape(x, (len(x), -1)) for x in parts], axis=1)
