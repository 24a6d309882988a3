"""Lengths and moment arms of the arm26 model of OpenSim (Reinbolt et al. after Holzbaur 2005, CC-BY 3.0).

The table is OpenSim 4.6's where the path is free of contact; where it touches the cylinder TRI, exact geodesics on the
endless cylinder (tangent, helix, tangent), from which OpenSim's wrapping differs by up to 2e-5 m.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Kinematics, TendonLength
from kinetree.joints import Revolute
from kinetree.spatial.rotations import rx, ry, rz
from kinetree.tendons import ViaPoint, WrapShape, path_length

TRI = WrapShape("cylinder", "TRI", 0.016)
PATHS = {
    "BICshort": (
        ViaPoint("base", (0.004675, -0.01231, 0.13475)), ViaPoint("base", (-0.007075, -0.04004, 0.14507)),
        ViaPoint("humerus", (0.01117, -0.07576, -0.01101)), ViaPoint("humerus", (0.01703, -0.12125, -0.01079)),
        ViaPoint("humerus", (0.0228, -0.1754, -0.0063)), ViaPoint("ulna", (0.00751, -0.04839, 0.02179)),
    ),
    "BRA": (ViaPoint("humerus", (0.0068, -0.1739, -0.0036)), TRI, ViaPoint("ulna", (-0.0032, -0.0239, 0.0009))),
    "TRIlat": (
        ViaPoint("humerus", (-0.00599, -0.12646, 0.00428)), ViaPoint("humerus", (-0.02344, -0.14528, 0.00928)),
        ViaPoint("humerus", (-0.03184, -0.22637, -0.01217)), ViaPoint("humerus", (-0.01743, -0.26757, -0.01208)),
        TRI, ViaPoint("ulna", (-0.0219, 0.01046, -0.00078)),
    ),
}  # fmt: skip
# Elbow [deg]: length and moment arms -dL/dq, of BICshort at shoulder and elbow, of the others at the elbow [m].
TABLE = {
    0: ((0.341687913, 0.007432176, 0.009379930), (0.147329031, 0.015055726), (0.166610488, -0.020095289)),
    20: ((0.336364006, 0.007432176, 0.021004766), (0.142333959, 0.013610914), (0.174578868, -0.024123121)),
    60: ((0.314487616, 0.007432176, 0.040542681), (0.132859771, 0.016709810), (0.190783028, -0.021220179)),
    90: ((0.290768951, 0.007432176, 0.048753405), (0.122367456, 0.022694054), (0.201264301, -0.019946863)),
    120: ((0.265370773, 0.007432176, 0.045641839), (0.109989506, 0.023546494), (0.211681998, -0.019686211)),
}


def arm26():
    """The two hinges, and the frame of the cylinder, turned about x, y and z of the body one after the other."""
    b = kt.ModelBuilder("arm26", gravity=(0.0, -9.8066, 0.0))
    b.add_frame("base", "world", ((0.0, 0.8, 0.0), (0.0, 0.0, 0.0)))
    for name, parent, p, axis in (
        ("humerus", "world", (-0.017545, 0.793, 0.17), (-0.05889802, 0.0023, 0.99826136)),
        ("ulna", "humerus", (0.0061, -0.2904, -0.0123), (0.04940001, 0.03660001, 0.99810825)),
    ):
        hinge = Revolute(tuple(np.array(axis) / np.linalg.norm(axis)))
        b.add_body(name, parent, joint=hinge, placement=(p, (0, 0, 0)), mass=1.5, com=(0, -0.18, 0), inertia=np.eye(3))
    turn = rz(0.154985) @ ry(-0.00628319) @ rx(-0.14015)
    R = np.array([list(row) for row in turn.T.matrix.rows], float)
    b.add_frame("TRI", "humerus", (R, np.array((0.0028, -0.2919, -0.0069))))
    return b.build()


@pytest.mark.parametrize("elbow", TABLE)
def test_lengths_and_moment_arms(elbow):
    """To the nine digits of the table."""
    model = arm26()
    kin = Kinematics(model, np.radians([0.0, elbow]).tolist())
    for (name, path), (length, *arms) in zip(PATHS.items(), TABLE[elbow], strict=True):
        assert float(path_length(path, kin)) == pytest.approx(length, abs=1.5e-9), name
        ((row),) = TendonLength(path).rows(kin)
        assert [-float(row.get(k, 0.0)) for k in (0, 1)][-len(arms) :] == pytest.approx(arms, abs=1.5e-9), name
