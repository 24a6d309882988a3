"""Geoms of a compiled MJCF model as shapes, sites as frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.arguments import listed
from kinetree.io.mjcf.compile import Compiled
from kinetree.io.mjcf.layout import Layout, of_kind
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.textures import image_of_material
from kinetree.model import Geometry, ModelBuilder, Softness
from kinetree.model.builder import rotation_of_quaternion

# By MuJoCo's mjtGeom: our kind and our lengths; MuJoCo gives half lengths, and a capsule without its caps.
_SHAPES: dict[int, tuple[str, Callable]] = {
    0: ("plane", lambda size: ()),
    2: ("sphere", lambda size: (size[0],)),
    3: ("capsule", lambda size: (size[0], 2.0 * size[1])),
    4: ("ellipsoid", tuple),
    5: ("cylinder", lambda size: (size[0], 2.0 * size[1])),
    6: ("box", lambda size: tuple(2.0 * size)),
}
_HEIGHTFIELD, _MESH = 1, 7
_NOT_DRAWN = {8: "a signed distance field"}
SOFTNESS = Softness((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0))  # of a contact, by default
_FIRST_HIDDEN_GROUP = 3  # MuJoCo's viewer shows groups 0 to 2: shapes for collision alone are put beyond
_GRAY = np.array([0.5, 0.5, 0.5, 1.0])  # MuJoCo's default, which a material replaces


def add_shapes(builder: ModelBuilder, place: Layout, compiled: Compiled, notes: Notes) -> None:
    """Give the bodies their shapes."""
    mj = place.mj
    names = of_kind(mj, "geom", mj.ngeom)
    in_pairs = {int(g) for g in (*mj.pair_geom1, *mj.pair_geom2)}
    left_out: dict[str, list[str]] = {}
    for g in range(mj.ngeom):
        body, name = int(mj.geom_bodyid[g]), names[g] or f"geom_{g}"
        role = _role(mj, g, g in in_pairs)
        common = (
            {"role": role, "name": names[g]} | _look(mj, g, compiled) | (_contact(mj, g) if role != "visual" else {})
        )
        kind = int(mj.geom_type[g])
        R, p = place.pose(body, mj.geom_pos[g], mj.geom_quat[g])
        if kind in _SHAPES:
            shape, lengths = _SHAPES[kind]
            builder.add_geometry(place.bodies[body], Geometry(shape, lengths(mj.geom_size[g]), R, p, **common))
            continue
        if kind == _HEIGHTFIELD:
            size, heights = _heights(mj, int(mj.geom_dataid[g]))
            builder.add_geometry(place.bodies[body], Geometry("heightfield", size, R, p, heights=heights, **common))
            continue
        if kind != _MESH:
            left_out.setdefault(_NOT_DRAWN.get(kind, "of another kind"), []).append(name)
            continue
        m = int(mj.geom_dataid[g])
        file = compiled.mesh_files.get(mj.mesh(m).name)
        if file is None:
            left_out.setdefault("a mesh without a file", []).append(name)
            continue
        if mj.mesh(m).name not in compiled.placeholders:
            # MuJoCo moves a mesh to its center and principal axes; the file's frame lies at the inverse of that.
            R = R @ rotation_of_quaternion(mj.mesh_quat[m]).T
            p = p - R @ mj.mesh_pos[m]
        scale = compiled.mesh_scales[mj.mesh(m).name]
        builder.add_geometry(place.bodies[body], Geometry("mesh", (), R, p, mesh=file, scale=scale, **common))
    for what, geoms in left_out.items():
        notes.info(("geom", geoms[0]), f"not drawn, because it is {what}: geom {listed(geoms, 4)}")


def add_sites(builder: ModelBuilder, place: Layout) -> None:
    """Add a frame for each site."""
    mj = place.mj
    for s, name in enumerate(place.sites):
        body = int(mj.site_bodyid[s])
        builder.add_frame(name, place.bodies[body], place.pose(body, mj.site_pos[s], mj.site_quat[s]))


def geom_frame(builder: ModelBuilder, place: Layout, geom: int) -> str:
    """The name of a frame at a geom, made on first use."""
    if geom not in place.geom_frames:
        mj, body = place.mj, int(place.mj.geom_bodyid[geom])
        name = place.names.new(mj.geom(geom).name or f"geom_{geom}")
        builder.add_frame(name, place.bodies[body], place.pose(body, mj.geom_pos[geom], mj.geom_quat[geom]))
        place.geom_frames[geom] = name
    return place.geom_frames[geom]


def _role(mj, g: int, in_pair: bool) -> str:
    if not (mj.geom_contype[g] or mj.geom_conaffinity[g] or in_pair):
        return "visual"
    return "collision" if mj.geom_group[g] >= _FIRST_HIDDEN_GROUP else "both"


def _contact(mj, g: int) -> dict[str, object]:
    """The contact data of a geom; numbers that MuJoCo has by default are stated, but for its softness."""
    softness = Softness(tuple(mj.geom_solref[g].tolist()), tuple(mj.geom_solimp[g].tolist()))
    return {
        "friction": tuple(mj.geom_friction[g].tolist()),
        "contype": int(np.uint32(mj.geom_contype[g])),
        "conaffinity": int(np.uint32(mj.geom_conaffinity[g])),
        "margin": max(float(mj.geom_margin[g]), 0.0),
        "condim": int(mj.geom_condim[g]),
        "priority": int(mj.geom_priority[g]),
        "softness": None if softness == SOFTNESS else softness,
    }


def _heights(mj, h: int) -> tuple[tuple[float, ...], np.ndarray]:
    """Size and heights of a height field; MuJoCo has half lengths, and heights from 0 to 1."""
    x, y, elevation, base = map(float, mj.hfield_size[h])
    first, rows, columns = int(mj.hfield_adr[h]), int(mj.hfield_nrow[h]), int(mj.hfield_ncol[h])
    heights = np.array(mj.hfield_data[first : first + rows * columns], dtype=float).reshape(rows, columns)
    return (2.0 * x, 2.0 * y, base), elevation * heights


def _look(mj, g: int, compiled: Compiled) -> dict[str, object]:
    material = int(mj.geom_matid[g])
    color = mj.geom_rgba[g]
    if material >= 0 and np.array_equal(color, _GRAY.astype(color.dtype)):
        color = mj.mat_rgba[material]
    look: dict[str, object] = {"color": tuple(round(float(x), 7) for x in np.clip(color, 0.0, 1.0))}
    if material >= 0:
        look["material"] = mj.mat(material).name
        if (texture := image_of_material(mj, material, g, compiled.textures)) is not None:
            look["texture"] = texture
    return look
