"""The arm with six muscles against OpenSim 4.6's numbers of the same model."""

import numpy as np
import pytest

import kinetree as kt

# Degrees (shoulder, elbow): BICshort L, r_shoulder, r_elbow; BRA L, r_elbow; TRIlat L, r_elbow [m].
LENGTHS = {
    (0, 0): (0.341687913, 0.007432176, 0.009379930, None, None, 0.166610488, -0.020095289),
    (0, 20): (0.336364006, 0.007432176, 0.021004766, None, None, 0.174578868, -0.024123121),
    (0, 60): (0.314487616, 0.007432176, 0.040542681, 0.132859771, 0.016709810, 0.190783028, -0.021220179),
    (0, 90): (0.290768951, 0.007432176, 0.048753405, 0.122367456, 0.022694054, None, None),
    (0, 120): (0.265370773, 0.007432176, 0.045641839, 0.109989506, 0.023546494, None, None),
}
# Paths in contact with the cylinder: geodesics, of which OpenSim's are off by 2e-5.
WRAPPED = {
    ("BRA", 0, 0): (0.147329031, 0.015055726), ("BRA", 0, 20): (0.142333959, 0.013610914),
    ("TRIlat", 0, 90): (0.201264301, -0.019946863), ("TRIlat", 0, 120): (0.211681998, -0.019686211),
}  # fmt: skip


@pytest.fixture(scope="module")
def arm():
    return kt.models.arm26()


def test_rigid_body(arm):
    """Torques and mass matrices of the arm without muscles, to rounding."""
    cases = [
        ((0, 0), (0, 0), (0, 0), (0.08072323529286206, 0.0)),
        ((20, 60), (0, 0), (0, 0), (5.368846246923303, 2.679863249176487)),
        ((20, 60), (1, -2), (3, 4), (6.885276478067994, 3.3648122976186525)),
    ]
    for q, v, a, tau in cases:
        np.testing.assert_allclose(kt.rnea(arm, np.radians(q), v, a), tau, atol=1e-14)
    off, low = 0.11103186808237443, 0.07049972635539473
    np.testing.assert_allclose(
        kt.crba(arm, np.radians([20, 60])), [[0.35654955177684783, off], [off, low]], rtol=1e-14
    )
    off = 0.1504595227626292
    np.testing.assert_allclose(kt.crba(arm, [0, 0]), [[0.43564883053978204, off], [off, low]], rtol=1e-14)


def test_lengths_and_moment_arms(arm):
    """All digits of the entries without contact."""
    names = [m.name for m in arm.muscles]
    for degrees, expected in LENGTHS.items():
        L, R = kt.muscles.lengths(arm, np.radians(degrees)), kt.muscles.moment_arms(arm, np.radians(degrees))
        short, lat, bra = (names.index(name) for name in ("BICshort", "TRIlat", "BRA"))
        found = (L[short], *R[short], L[bra], R[bra, 1], L[lat], R[lat, 1])
        for x, y in zip(found, expected, strict=True):
            assert y is None or x == pytest.approx(y, abs=5.1e-10)
        assert R[names.index("BIClong"), 1] == pytest.approx(R[short, 1], abs=1e-15)
    assert kt.muscles.lengths(arm, [0, 0])[names.index("TRIlong")] == pytest.approx(0.277609177, abs=5.1e-10)
    assert kt.muscles.lengths(arm, np.radians([0, 90]))[names.index("TRIlong")] == pytest.approx(0.312262997, abs=1e-6)


def test_geodesics_around_the_elbow(arm):
    """Paths in contact with the cylinder, and the one over the sphere, whose radius follows from the first length."""
    names = [m.name for m in arm.muscles]
    for (name, *degrees), (length, r) in WRAPPED.items():
        at = np.radians(degrees)
        assert kt.muscles.lengths(arm, at)[names.index(name)] == pytest.approx(length, abs=5.1e-10)
        assert kt.muscles.moment_arms(arm, at)[names.index(name), 1] == pytest.approx(r, abs=5.1e-10)
    for elbow, length in ((0, 0.424575382), (90, 0.373656419)):
        found = kt.muscles.lengths(arm, np.radians([0, elbow]))[names.index("BIClong")]
        assert found == pytest.approx(length, abs=1e-9)
