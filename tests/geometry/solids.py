"""Solids for the tests: triangle meshes written here, their integrals by independent code, and files of them."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np

BOX_CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
BOX_FACES = np.array([
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
])  # fmt: skip


def box(size=(1.0, 1.0, 1.0), center=(0.0, 0.0, 0.0)):
    """Corners and triangles of a box, seen counterclockwise from outside."""
    return BOX_CORNERS * size + center, BOX_FACES.copy()


def icosphere(radius=1.0, levels=3):
    """An icosahedron whose triangles are split into four, again and again, with all corners on the sphere."""
    g = (1.0 + math.sqrt(5.0)) / 2.0
    corners = [np.roll((0.0, s, t * g), k) for k in range(3) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    vertices = [np.array(corner) / math.hypot(1.0, g) for corner in corners]
    edge = 2.0 / math.hypot(1.0, g)
    near = [[abs(np.linalg.norm(a - b) - edge) < 1e-9 for b in vertices] for a in vertices]
    triples = itertools.combinations(range(12), 3)
    faces = [(i, j, k) for i, j, k in triples if near[i][j] and near[j][k] and near[i][k]]
    outward = [np.linalg.det([vertices[i], vertices[j], vertices[k]]) > 0.0 for i, j, k in faces]
    faces = [(i, j, k) if out else (i, k, j) for (i, j, k), out in zip(faces, outward, strict=True)]
    for _ in range(levels):
        middles: dict = {}

        def middle(i, j, middles=middles):
            key = (min(i, j), max(i, j))
            if key not in middles:
                middles[key] = len(vertices)
                vertices.append((vertices[i] + vertices[j]) / np.linalg.norm(vertices[i] + vertices[j]))
            return middles[key]

        split = []
        for i, j, k in faces:
            a, b, c = middle(i, j), middle(j, k), middle(k, i)
            split += [(i, a, c), (a, j, b), (c, b, k), (a, b, c)]
        faces = split
    return radius * np.array(vertices), np.array(faces)


def tetrahedra_sums(vertices, faces):
    """Volume, centroid and inertia about it of a closed mesh: signed tetrahedra from the first corner, summed.

    Of a tetrahedron with corners a, b, c and 0: V = det/6, the centroid is the mean of the corners, and the second
    moments are V/20 (sum of the dyads of the corners plus the dyad of their sum).
    """
    origin = vertices[0]
    volume, first, second = [], [], []
    for i, j, k in faces:
        corners = [vertices[n] - origin for n in (i, j, k)]
        V = np.linalg.det(corners) / 6.0
        total = sum(corners)
        volume.append(V)
        first.append(V * total / 4.0)
        second.append(V / 20.0 * (sum(np.outer(x, x) for x in corners) + np.outer(total, total)))
    V = math.fsum(volume)
    c = np.array([math.fsum(x) for x in zip(*first, strict=True)]) / V
    Sigma = sum(second) - V * np.outer(c, c)
    return V, c + origin, np.trace(Sigma) * np.eye(3) - Sigma


def write_stl(path, vertices, faces):
    """A binary STL file: every triangle for itself, single precision."""
    with open(path, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(faces)))
        for face in faces:
            corners = vertices[list(face)]
            file.write(struct.pack("<12fH", 0.0, 0.0, 0.0, *corners.reshape(-1), 0))  # normals are for readers to find
    return str(path)


def write_obj(path, vertices, faces):
    """An OBJ file with all digits of the corners."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, dtype=float).tolist()]
    lines += [f"f {i + 1} {j + 1} {k + 1}" for i, j, k in np.asarray(faces).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def write_ply(path, vertices, faces):
    """An ASCII PLY file with all digits of the corners."""
    header = (
        f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty double x\nproperty double y\n"
        f"property double z\nelement face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    lines = [f"{x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, dtype=float).tolist()]
    lines += [f"3 {i} {j} {k}" for i, j, k in np.asarray(faces).tolist()]
    path.write_text(header + "\n".join(lines) + "\n")
    return str(path)


def write_glb(path, vertices, faces):
    """A binary glTF file: one mesh, single precision, in one buffer."""
    import json

    points, indices = np.asarray(vertices, "<f4"), np.asarray(faces, "<u4").reshape(-1)
    blob = points.tobytes() + indices.tobytes()
    described = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(blob)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": points.nbytes},
            {"buffer": 0, "byteOffset": points.nbytes, "byteLength": indices.nbytes},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3",
             "min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()},
            {"bufferView": 1, "componentType": 5125, "count": len(indices), "type": "SCALAR"},
        ],
    }  # fmt: skip
    text = json.dumps(described).encode()
    text += b" " * (-len(text) % 4)
    size = 12 + 8 + len(text) + 8 + len(blob)
    chunks = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON") + text
    path.write_bytes(chunks + struct.pack("<I4s", len(blob), b"BIN\0") + blob)
    return str(path)


def random_rotation(rng):
    """A random rotation matrix."""
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0.0 else Q[:, [1, 0, 2]]
