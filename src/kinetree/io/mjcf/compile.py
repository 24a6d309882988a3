"""Compilation of a file by MuJoCo: defaults, frames, inertias of geoms and length ranges become numbers.

Visual assets do not affect loading: textures are left out, and a mesh that is missing or broken is replaced by
a placeholder where nothing but a picture depends on it.
"""

from __future__ import annotations

import math
import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kinetree.errors import KinetreeError, MissingDependencyError
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.mjcf.checks import check_file, check_numbers, check_sizes
from kinetree.io.mjcf.inertia import InertiaRepairs
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.sources import Sources
from kinetree.io.mjcf.textures import textures_of
from kinetree.model.texture import Texture

OLDEST = (3, 3)  # the version of MuJoCo that first has all of MjSpec that is used here
_SCHEMES = ("package:", "model:", "file:")
_TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_LOCK = threading.Lock()  # the handler of warnings is MuJoCo's only one


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled model and the parts of its specification that the reader needs.

    Parameters
    ----------
    model : mujoco.MjModel
    mesh_files : dict of str to str
        From a mesh's name to its file, as a path where the file exists.
    mesh_scales : dict of str to tuple of 3 floats
    placeholders : frozenset of str
        Meshes whose content is not the file's.
    inertias : dict of int to (mass, com, I)
        Of bodies that were compiled with other ones.
    textures : tuple of Texture or None
        By number; None for those that are not shown.
    """

    model: object
    mesh_files: dict[str, str]
    mesh_scales: dict[str, tuple[float, float, float]]
    placeholders: frozenset[str]
    inertias: dict[int, tuple]
    textures: tuple[Texture | None, ...] = ()


def require_mujoco():
    """The package, or an error with the way to install it."""
    try:
        import mujoco
    except ImportError:
        found = "which is not installed"
    else:
        if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) >= OLDEST:
            return mujoco
        oldest = ".".join(map(str, OLDEST))
        found = f"of which version {mujoco.__version__} is installed, and {oldest} or later is needed"
    message = f"MJCF files are compiled by the package mujoco, {found}: pip install mujoco"
    raise MissingDependencyError(message)


def compile_sources(source, notes: Notes, *, package_dirs: Iterable, inertia: str, massless: str) -> Compiled:
    """Compile a file or text, parsed as ``notes.sources``, or the text that these have printed; see `load_mjcf`.

    Raises
    ------
    MJCFError
        An error of MuJoCo's parser or compiler, with file and line.
    """
    mujoco = require_mujoco()
    sources = notes.sources
    check_numbers(sources)
    check_sizes(sources)
    with _quiet(mujoco) as reported:
        try:
            spec = _parse(mujoco, source, sources)
            if any("'NaN'" in warning for warning in reported):
                fault = "NaN is not a finite number"
                raise sources.number_error("nan", fault) or sources.main.fail(None, fault, code="bad-number")
            compiled = _compile(mujoco, spec, MeshFinder(sources.base, package_dirs), notes, inertia, massless)
        except KinetreeError:
            raise
        except (ValueError, mujoco.FatalError, RuntimeError) as error:
            raise sources.compiler_error(str(error)) from None
    for warning in dict.fromkeys(reported):
        notes.info(None, f"MuJoCo's compiler warns: {' '.join(warning.split())}")
    return compiled


def _parse(mujoco, source, sources: Sources):
    """The specification of a file or text. MuJoCo opens files only by the name .xml, so others are given as text."""
    path = sources.main.path
    if sources.printed is None and path is not None and path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    text = source if path is None or sources.printed is not None else path.read_text(encoding="utf-8-sig")
    parts = {name: part.read_bytes() for name, part in sources.includes.items()}
    spec = mujoco.MjSpec.from_string(_without_declaration(text), include=parts)
    if path is not None:
        spec.modelfiledir = str(path.parent)
    return spec


def _without_declaration(source: str) -> str:
    """The text without its XML declaration, which MuJoCo takes at the very beginning only; lines stay in place."""
    return re.sub(r"^\ufeff?\s*<\?xml.*?\?>", lambda found: "\n" * found[0].count("\n"), source, flags=re.DOTALL)


@contextmanager
def _quiet(mujoco) -> Iterator[list[str]]:
    """Collect MuJoCo's warnings, which it would print and write to a file in the working folder."""
    reported: list[str] = []
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(reported.append)
        try:
            yield reported
        finally:
            mujoco.set_mju_user_warning(before)
            reported += [str(warning.message) for warning in caught]


def _compile(mujoco, spec, finder: MeshFinder, notes: Notes, inertia: str, massless: str) -> Compiled:
    textures = textures_of(mujoco, spec, notes.sources.base, notes)
    _leave_out(mujoco, spec)
    _check_files(spec, notes.sources)
    files = _mesh_files(spec, notes.sources, finder)
    repairs = InertiaRepairs(spec, inertia, massless, notes)
    placeholders: set[str] = set()
    while True:
        try:
            model = spec.compile()
            break
        except (ValueError, RuntimeError) as error:
            text = str(error)
            repaired = repairs.repair(text) or _repair_length_ranges(spec, text, notes)
            if not (repaired or _repair_meshes(mujoco, spec, files, placeholders, notes)):
                raise
    _remember_lines(spec, notes.sources)
    scales = {asset_name(mesh): tuple(map(float, mesh.scale)) for mesh in spec.meshes}
    return Compiled(model, files, scales, frozenset(placeholders), repairs.own(model), textures)


def _remember_lines(spec, sources: Sources) -> None:
    """Record the lines of elements without a name; MuJoCo gives the lines of the main file."""
    for kind, parts in (
        ("body", spec.bodies), ("joint", spec.joints), ("geom", spec.geoms), ("site", spec.sites),
        ("tendon", spec.tendons), ("equality", spec.equalities), ("actuator", spec.actuators), ("key", spec.keys),
    ):  # fmt: skip
        for k, part in enumerate(parts):  # in the order of the compiled model
            line = re.match(r"line (\d+)", getattr(part, "info", "") or "")
            if not part.name and line and int(line[1]):
                sources.remember(kind, f"{kind}_{k}", int(line[1]))


def _repair_length_ranges(spec, text: str, notes: Notes) -> bool:
    """Omit the length ranges of actuators, which are data here, where MuJoCo does not find them."""
    if not re.search("engthrange|simulation is unstable", text) or not spec.compiler.LRopt.mode:
        return False
    spec.compiler.LRopt.mode = 0
    message = f"length ranges of actuators are (0, 0), except those in the file: {' '.join(text.split())}"
    notes.warning(None, message)
    return True


def _repair_meshes(mujoco, spec, files: dict[str, str], placeholders: set[str], notes: Notes) -> bool:
    """Replace each mesh that cannot be read and on which no inertia depends; whether there was one."""
    repaired = False
    for mesh in spec.meshes:
        name = asset_name(mesh)
        reason = None if name in placeholders else _harmless_fault(mujoco, mesh, spec, files.get(name))
        if reason is not None:
            repaired = True
            placeholders.add(name)
            mesh.name, mesh.file, mesh.uservert = name, "", _TETRAHEDRON
            message = f"mesh '{name}' is not read ({reason}); no inertia depends on it"
            notes.info(("mesh", name), message, "mesh-missing")
    return repaired


def _leave_out(mujoco, spec) -> None:
    """Leave out images, which are read where they are shown, and memory that MuJoCo reserves for itself."""
    for k, texture in enumerate(spec.textures):
        texture.name = asset_name(texture) or f"texture {k}"  # plain ones need names, unlike skyboxes
        texture.file = ""
        texture.cubefiles = [""] * 6
        texture.type = mujoco.mjtTexture.mjTEXTURE_2D
        texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
        texture.width = texture.height = 1
    for name in ("memory", "nstack", "njmax", "nconmax"):
        setattr(spec, name, -1)
    spec.nuserdata = 0


def asset_name(asset) -> str:
    """The name of a mesh, by default that of its file."""
    return asset.name or Path(asset.file.replace("\\", "/")).stem


def _mesh_files(spec, sources: Sources, finder: MeshFinder) -> dict[str, str]:
    """Where the meshes' files lie; names that MuJoCo does not understand are replaced in the specification."""
    files: dict[str, str] = {}
    for mesh in (mesh for mesh in spec.meshes if mesh.file):
        name = mesh.file
        if name.lower().startswith(_SCHEMES):
            name = re.sub(r"^(package|model):/(?!/)", r"\1://", name)  # MuJoCo takes two slashes for one
            path = finder.find(name).path
            if path is not None:
                mesh.name = asset_name(mesh)
                mesh.file = str(path)
        else:
            path = asset_path(mesh, spec, sources.base)
        files[asset_name(mesh)] = str(path) if path is not None and path.is_file() else name
    return files


def asset_path(asset, spec, base: Path | None) -> Path:
    """The file of a mesh of a specification whose own file is in a folder."""
    compiler = getattr(asset, "compiler", None) or spec.compiler
    folder = getattr(compiler, "meshdir", None) or getattr(spec, "meshdir", "") or ""
    name = asset.file.replace("\\", "/")
    if getattr(spec, "strippath", False):
        name = Path(name).name
    return ((base or Path()) / folder / name).absolute()


def _check_files(spec, sources: Sources) -> None:
    """Refuse pipes, devices and enormous files among those that MuJoCo will open; it reports missing ones itself."""
    bases = list(dict.fromkeys(folder for document in sources.documents for folder in sources.folders(document)))
    for kind, assets in (("mesh", spec.meshes), ("hfield", spec.hfields), ("skin", spec.skins)):
        for asset in assets:
            if asset.file:
                node = sources.find(kind, asset.name) or sources.main.root
                for base in bases:
                    check_file(asset_path(asset, spec, base), node)


def _harmless_fault(mujoco, mesh, spec, file: str | None) -> str | None:
    """Why a mesh cannot be read, if no inertia and no shape of the model depends on it."""
    if not mesh.file or any(_needs_mesh(mujoco, geom, spec) for geom in spec.geoms if geom.meshname == mesh.name):
        return None
    if file is None or not Path(file).is_file():
        return f"no file {mesh.file}"
    probe = mujoco.MjSpec()
    copy = probe.add_mesh(name="mesh", file=file)
    copy.scale, copy.inertia = mesh.scale, mesh.inertia
    probe.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    try:
        probe.compile()
    except (ValueError, RuntimeError) as error:
        return " ".join(str(error).split())
    return None


def _needs_mesh(mujoco, geom, spec) -> bool:
    """Whether the mass or the shape of a geom comes from its mesh."""
    if geom.type != mujoco.mjtGeom.mjGEOM_MESH:
        return True
    mode = int(spec.compiler.inertiafromgeom)  # 0 no, 1 yes, 2 where there is no <inertial>
    low, high = spec.compiler.inertiagrouprange
    explicit = getattr(geom.parent, "explicitinertial", False)
    if mode == 0 or (mode == 2 and explicit) or not low <= geom.group <= high:
        return False
    return not (geom.mass == 0.0 or (math.isnan(geom.mass) and geom.density == 0.0))
