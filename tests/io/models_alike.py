"""Whether two models say the same, for tests that write one and read it again."""

from __future__ import annotations

import os

import numpy as np

CONTACT = ("restitution", "stiffness", "damping", "contype", "conaffinity", "margin", "priority", "softness")
UNSTATED = (None, (1.0, 0.005, 0.0001))  # frictions of shapes without: MuJoCo has no shape without
TOLERANCE = 1e-14  # of the size of each kind of number: an element is some ten roundings away from its decimals


def rotation(X) -> np.ndarray:
    """The matrix of a transform's rotation."""
    return np.array(X.E.matrix.rows, dtype=float)


def assert_alike(
    found, expected, tolerance: float = TOLERANCE, frames_in_order: bool = True, rotations: float = TOLERANCE
) -> None:
    """Assert that two models have the same bodies, joints, numbers, frames and couplings."""
    assert found.body_names == expected.body_names
    assert found.joint_names == expected.joint_names
    assert found.parent == expected.parent
    for name, a, b in zip(found.joint_names, found.joints[1:], expected.joints[1:], strict=True):
        assert_joints_alike(name, a, b)
    assert_numbers_alike(found, expected, tolerance)
    for X, Y in zip(found.X_T, expected.X_T, strict=True):
        np.testing.assert_allclose(rotation(X), rotation(Y), rtol=0, atol=rotations)
    for what in ("velocity_limit", "effort_limit"):
        np.testing.assert_allclose(getattr(found, what), getattr(expected, what), rtol=tolerance)
    assert_frames_alike(found, expected, max(tolerance, rotations), frames_in_order)
    couplings = [sorted((c.joint, c.master, c.ratio, c.offset) for c in m.couplings) for m in (found, expected)]
    assert [c[:2] for c in couplings[0]] == [c[:2] for c in couplings[1]]
    np.testing.assert_allclose([c[2:] for c in couplings[0]], [c[2:] for c in couplings[1]], rtol=1e-15, atol=1e-15)


def assert_joints_alike(name: str, found, expected) -> None:
    """Assert joints of one kind, with axes that differ by rounding."""
    assert type(found) is type(expected), name
    if hasattr(expected, "axis"):
        np.testing.assert_allclose(found.axis, expected.axis, rtol=0, atol=1e-15, err_msg=name)
    else:
        assert repr(found) == repr(expected), name


def assert_numbers_alike(found, expected, tolerance: float) -> None:
    """Assert equal names, zeros and infinities; values to a tolerance of the largest of their kind on the body.

    Couplings may stand in another order: a file lists them where it has their joints.
    """
    a, b = found.numbers(), expected.numbers()
    ordered = [[name for name in x.names if not name.startswith("coupling:")] for x in (a, b)]
    assert ordered[0] == ordered[1] and sorted(a.names) == sorted(b.names)
    values = dict(zip(a.names, a.values.tolist(), strict=True))
    sizes: dict[tuple[str, str], float] = {}
    kinds = [(name.split(".")[0], name.rsplit(".", 2)[-2 if name[-3:-2] == "." or name[-2:-1] == "." else -1])
             for name in b.names]  # fmt: skip
    for kind, y in zip(kinds, b.values.tolist(), strict=True):
        sizes[kind] = max(sizes.get(kind, 0.0), abs(y)) if np.isfinite(y) else sizes.get(kind, 0.0)
    for name, kind, y in zip(b.names, kinds, b.values.tolist(), strict=True):
        x = values[name]
        assert x == y or abs(x - y) <= tolerance * max(sizes[kind], abs(y)), f"{name}: {x!r}, expected {y!r}"


def assert_frames_alike(found, expected, tolerance: float, in_order: bool = True) -> None:
    """Assert the same frames, on the same bodies, at the same poses."""
    names = [f.name for f in found.frames], [f.name for f in expected.frames]
    assert names[0] == names[1] if in_order else sorted(names[0]) == sorted(names[1])
    for theirs in expected.frames:
        ours = found.frame(theirs.name)
        assert ours.body == theirs.body, theirs.name
        np.testing.assert_allclose(ours.R_BF, theirs.R_BF, rtol=0, atol=tolerance, err_msg=theirs.name)
        size = max(1.0, np.abs(theirs.p_BF).max())
        np.testing.assert_allclose(ours.p_BF, theirs.p_BF, rtol=0, atol=tolerance * size, err_msg=theirs.name)


def assert_shapes_alike(found, expected, tolerance: float = TOLERANCE) -> None:
    """Assert the same shapes on every body, role by role in order."""
    for name, ours, theirs in zip(expected.body_names, found.geometry, expected.geometry, strict=True):
        for role in ("visual", "collision", "both"):
            a, b = ([g for g in shapes if g.role == role] for shapes in (ours, theirs))
            for g, h in zip(a, b, strict=True):
                assert (g.kind, g.name, g.material) == (h.kind, h.name, h.material), name
                if len({x.link for x in theirs}) == 1:  # of welded links URDF has the numbers of one
                    assert [getattr(g, x) for x in CONTACT] == [getattr(h, x) for x in CONTACT], name
                    assert g.friction == h.friction or {g.friction, h.friction} == {*UNSTATED}, name
                assert os.path.normpath(g.mesh or "") == os.path.normpath(h.mesh or ""), name
                assert (g.color is None) == (h.color is None), (name, g.color, h.color)
                np.testing.assert_allclose(g.color or (), h.color or (), rtol=0, atol=tolerance)
                np.testing.assert_allclose(g.size + tuple(g.scale), h.size + tuple(h.scale), rtol=tolerance)
                np.testing.assert_allclose(g.R_BG, h.R_BG, rtol=0, atol=tolerance)
                size = max(1.0, np.abs(h.p_BG).max())
                np.testing.assert_allclose(g.p_BG, h.p_BG, rtol=0, atol=tolerance * size)
