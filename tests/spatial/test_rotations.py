"""Angles and quaternions: their conventions. Rotation vectors have their tests in tests/liegroup."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Oracle

from kinetree.errors import JointError
from kinetree.spatial import rotations
from kinetree.spatial.rotations import rx, ry, rz

from .samples import close

RNG = np.random.default_rng(13)


def pose(E):
    """R, whose columns are B's axes in A: the transpose of the coordinate rotation."""
    return E.matrix.array().T


def test_axial_coordinate_rotations():
    """rx, ry, rz of table 2.2: the coordinates of a fixed vector turn backwards."""
    c, s = np.cos(0.3), np.sin(0.3)
    assert close(rx(0.3).matrix, np.array([[1, 0, 0], [0, c, s], [0, -s, c]]))
    assert close(ry(0.3).matrix, np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]))
    assert close(rz(0.3).matrix, np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))


@pytest.mark.parametrize("sequence", rotations.EULER_SEQUENCES)
def test_euler_sequences(sequence):
    """All twelve, about the axes of the turned frame: SciPy's capital letters."""
    angles = RNG.uniform(-np.pi, np.pi, 3)
    E = rotations.euler(sequence, angles.tolist())
    assert close(pose(E), Oracle.from_euler(sequence.upper(), angles).as_matrix())


def test_unknown_euler_sequence():
    """Capitals, repeated axes and other names are refused, with the valid ones listed."""
    for sequence in ("ZYX", "xxy", "xyzx", "roll"):
        with pytest.raises(JointError, match="expected lower-case axes .* xyz, xzy"):
            rotations.euler(sequence, (0.0, 0.0, 0.0))


def test_quaternion_convention():
    """(w, x, y, z), and R(q) turns vectors as SciPy's does; 4.12 of the book is its transpose."""
    for _ in range(5):
        q = np.array(rotations.quaternion_normalize(RNG.normal(size=4)))
        assert close(pose(rotations.quaternion_to_rotation(q)), Oracle.from_quat(q[[1, 2, 3, 0]]).as_matrix())


def test_length_of_a_quaternion_is_removed():
    """normalize divides by the length; the direction stays."""
    assert rotations.quaternion_normalize((3.0, 0.0, 4.0, 0.0)) == (0.6, 0.0, 0.8, 0.0)
