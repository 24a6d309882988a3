"""Textures of MJCF files and the materials that name them, as images on shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kinetree.io.mjcf.notes import Notes
from kinetree.model.texture import Texture

_PLANE, _BOX = 0, 6  # MuJoCo's mjtGeom


def textures_of(mujoco, spec, base: Path | None, notes: Notes | None = None) -> tuple[Texture | None, ...]:
    """The textures of a specification by number; None for skyboxes and others that are not shown.

    Parameters
    ----------
    mujoco : module
    spec : mujoco.MjSpec
    base : Path or None
        Folder of the file.
    notes : Notes, optional
        Receives files that are missing.
    """
    builtin = mujoco.mjtBuiltin
    patterns = {
        builtin.mjBUILTIN_CHECKER: "checker", builtin.mjBUILTIN_GRADIENT: "gradient", builtin.mjBUILTIN_FLAT: "flat",
    }  # fmt: skip
    found: list[Texture | None] = []
    for texture in spec.textures:
        if texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX:
            found.append(None)
        elif texture.builtin in patterns:
            colors = tuple(texture.rgb1.tolist()), tuple(texture.rgb2.tolist())
            found.append(Texture(pattern=patterns[texture.builtin], colors=colors))
        else:
            found.append(_of_file(texture, spec, base, notes))
    return tuple(found)


def _of_file(texture, spec, base: Path | None, notes: Notes | None) -> Texture | None:
    """The file of a texture; one in several parts for the sides of a cube is not shown."""
    if not texture.file:
        return None
    name = Path(texture.file.replace("\\", "/"))
    folder = getattr(getattr(texture, "compiler", None) or spec.compiler, "texturedir", None) or spec.texturedir or ""
    path = ((base or Path()) / folder / (name.name if spec.strippath else name)).absolute()
    if path.is_file():
        return Texture(str(path))
    if notes is not None:
        notes.info(("texture", texture.name), f"texture '{texture.name or name.stem}' not found: no file {path}",
                   "mesh-missing")  # fmt: skip
    return None


def image_of_material(mj, material: int, geom: int, textures: tuple[Texture | None, ...]) -> Texture | None:
    """The image that a material gives a geom.

    Parameters
    ----------
    mj : mujoco.MjModel
    material, geom : int
    textures : tuple of Texture or None
    """
    numbers = np.atleast_1d(mj.mat_texid[material])
    k = next((int(n) for n in numbers if 0 <= n < len(textures) and textures[n] is not None), None)
    if k is None:
        return None
    is_cube, kind = int(mj.tex_type[k]) != 0, int(mj.geom_type[geom])
    if is_cube and kind != _BOX and textures[k].pattern is None:
        return None
    repeat, uniform = np.array(mj.mat_texrepeat[material], float), bool(mj.mat_texuniform[material])
    if kind == _PLANE and not uniform:  # repeated over the size of the plane, which shapes here do not have
        half = np.array(mj.geom_size[geom][:2], float)
        repeat, uniform = np.where(half > 0.0, repeat / np.where(half > 0.0, 2.0 * half, 1.0), repeat), True
    return replace(textures[k], repeat=tuple(repeat.tolist()), uniform=uniform)
