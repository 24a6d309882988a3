"""glTF files, read by other programs: trimesh finds the meshes at their places, three.js plays the motion."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.viewer.scene import Scene
from tests.view.test_page import swinging

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@pytest.fixture(scope="module")
def run():
    """An arm with several kinds of shapes."""
    return kt.simulate(kt.load("arm7"), duration=0.2, seed=1)


@pytest.fixture(scope="module")
def file(run, tmp_path_factory):
    """Its glTF file."""
    return run.save(tmp_path_factory.mktemp("gltf") / "run.glb")


def tree_of(path) -> tuple[dict, bytes]:
    """The JSON and the arrays of a .glb file, by the layout of the specification."""
    content = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", content)
    size, kind = struct.unpack_from("<I4s", content, 12)
    assert (magic, version, length, kind) == (b"glTF", 2, len(content), b"JSON")
    return json.loads(content[20 : 20 + size]), content[28 + size :]


def test_trimesh_reads_the_shapes_where_they_are(run, file):
    """All triangles of the start in world coordinates, y up, against the scene's."""
    trimesh = pytest.importorskip("trimesh")
    read = trimesh.load(file, file_type="glb").to_geometry()
    scene = Scene.of(run.model)
    pose, corners = scene.poses(run.q[0])[0], []
    for part in scene.parts:
        R = Rotation.from_quat(pose[part.body, [4, 5, 6, 3]])
        world = R.apply(part.corners()) + pose[part.body, :3]
        start = 0
        for x in part.triangles():
            corners.append(world[start : start + len(x.vertices)][x.faces].mean(axis=1))
            start += len(x.vertices)
    expected = np.concatenate(corners) @ Y_UP.T
    found = read.triangles.mean(axis=1)
    assert found.shape == expected.shape
    assert max(cKDTree(a).query(b)[0].max() for a, b in ((found, expected), (expected, found))) < 1e-5


def test_animation_is_the_motion(run, file):
    """Times, positions and rotations of the channels of a body, read from the arrays of the file."""
    tree, arrays = tree_of(file)

    def values(number):
        accessor = tree["accessors"][number]
        start = tree["bufferViews"][accessor["bufferView"]]["byteOffset"]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        return np.frombuffer(arrays, "<f4", accessor["count"] * width, start).reshape(-1, width)

    names = [node["name"] for node in tree["nodes"]]
    body = run.model.body_names[5]
    found = {
        channel["target"]["path"]: tree["animations"][0]["samplers"][channel["sampler"]]
        for channel in tree["animations"][0]["channels"] if channel["target"]["node"] == names.index(body)
    }  # fmt: skip
    time = values(found["translation"]["input"])[:, 0]
    R, p = kt.pose(run.model, run.state(time.astype(float).clip(0.0, run.time[-1]))[0], frame=body)
    assert np.abs(values(found["translation"]["output"]) - p).max() < 1e-6
    x, y, z, w = values(found["rotation"]["output"]).T
    first = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)  # column of R
    assert np.abs(first - R[:, :, 0]).max() < 1e-5


def test_equal_runs_give_equal_models(tmp_path):
    """Nothing of the time or the place of writing is in the file."""
    first, second = (swinging(tmp_path, duration=0.1).save(tmp_path / f"{k}.glb").read_bytes() for k in range(2))
    assert first == second
