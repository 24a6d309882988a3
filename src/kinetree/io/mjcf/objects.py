"""Models to and from objects of MuJoCo: ``MjModel``, as compiled, and ``MjSpec``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kinetree.arguments import a_model, a_name, a_path, a_truth_value, a_word, checked, of_kind
from kinetree.errors import MJCFError
from kinetree.io.mjcf.compile import Compiled, asset_name, asset_path, require_mujoco
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.read import model_of
from kinetree.io.mjcf.sources import Sources
from kinetree.io.mjcf.textures import textures_of
from kinetree.io.mjcf.write import to_mjcf
from kinetree.io.options import Options


def _a_mujoco_object(what: str, value: object) -> None:
    if not is_spec(value):
        of_kind("mujoco.MjModel or mujoco.MjSpec", "jnt_type", "body_inertia", "geom_type", "opt")(what, value)


def is_spec(value: object) -> bool:
    """Whether an object is a ``mujoco.MjSpec``, without an import of MuJoCo."""
    return type(value).__name__ == "MjSpec" and hasattr(value, "worldbody")


@checked(
    source=_a_mujoco_object, name=a_name, floating_base=a_truth_value, base_joint=a_name, merge_fixed=a_truth_value,
    folder=a_path,
)  # fmt: skip
def load_mujoco(
    source,
    *,
    name: str | None = None,
    floating_base: bool | None = None,
    base_joint: str = "root_joint",
    merge_fixed: bool = True,
    unsupported: str = "raise",
    inertia: str = "raise",
    massless: str = "raise",
    folder: str | PathLike | None = None,
):
    """Make a model of a ``mujoco.MjModel`` or of a ``mujoco.MjSpec``.

    Parameters
    ----------
    source : mujoco.MjModel or mujoco.MjSpec
        A specification is compiled; its object stays as it is.
    name : str, optional
        Name of the model; default: its own.
    floating_base : bool, optional
        None: as in the source. True: the root body moves freely. False: its free joint is made fixed.
    base_joint : str
        Name of a free joint that ``floating_base=True`` adds.
    merge_fixed : bool
        True: bodies without joints become frames of the body they are attached to. False: they stay bodies.
    unsupported : {"raise", "drop"}
        Treatment of physics that kinetree does not support.
    inertia : {"raise", "project", "diagonal", "accept"}
        Treatment of an inertia that no body can have, as for `load_mjcf`.
    massless : {"raise", "lock"}
        Treatment of joints that move no inertia: refuse them, or make them fixed.
    folder : path, optional
        Folder of the file that an ``MjModel`` was made of, below which it names its meshes.

    Returns
    -------
    Model
        As `load_mjcf` gives it of the file: the numbers are those of the compiled model, to the last bit, also where
        they were changed after compilation.

    Raises
    ------
    MJCFError
        MuJoCo's compiler refuses the specification.
    UnsupportedError
        The model contains physics that kinetree's does not support.

    Notes
    -----
    An ``MjModel`` has no file and no lines, so errors and the report name parts by kind and name alone, and elements
    that the compiler itself leaves out do not appear in the report.

    Examples
    --------
    >>> import kinetree as kt, mujoco
    >>> there = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(kt.models.cart_pole()))
    >>> there.dof_damping[1] = 0.3
    >>> kt.load(there).damping.tolist()
    [0.0, 0.3]
    """
    require_mujoco()
    options = Options(name, floating_base, base_joint, merge_fixed, (), unsupported, inertia, massless)
    options.check("load_mujoco", base_is_free=floating_base)
    if is_spec(source):
        title, compiled = source.modelname, _of_spec(source)
    else:
        title, compiled = _text_at(source.names, 0), _of_model(source, Path(folder or ""))
    options = Options(
        name or title or "model", floating_base, base_joint, merge_fixed, (), unsupported, inertia, massless
    )
    return model_of(compiled, Notes(Sources("<mujoco/>"), drop=options.drop), options)


def _of_spec(spec) -> Compiled:
    import mujoco

    try:
        model = spec.copy().compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise MJCFError(f"MuJoCo refuses the specification: {' '.join(str(error).split())}") from None
    base = Path(spec.modelfiledir) if spec.modelfiledir else None
    files = {asset_name(mesh): str(asset_path(mesh, spec, base)) for mesh in spec.meshes if mesh.file}
    return Compiled(model, files, _scales(model), frozenset(), {}, textures_of(mujoco, spec, base))


def _of_model(model, folder: Path) -> Compiled:
    files = {}
    for m, at in enumerate(model.mesh_pathadr):
        if at >= 0:
            found = folder / _text_at(model.paths, int(at))
            files[model.mesh(m).name] = str(found.absolute() if found.is_file() else found)
    return Compiled(model, files, _scales(model), frozenset(), {})


def _scales(model) -> dict[str, tuple[float, float, float]]:
    return {model.mesh(m).name: tuple(model.mesh_scale[m].tolist()) for m in range(model.nmesh)}


def _text_at(characters: bytes, at: int) -> str:
    return characters[at : characters.index(b"\0", at)].decode()


@checked(model=a_model, unsupported=a_word, meshes=a_word)
def to_mujoco(model, *, unsupported: str = "raise", meshes: str = "keep"):
    """Make a ``mujoco.MjModel`` of a model.

    Parameters
    ----------
    model : Model
    unsupported : {"raise", "drop"}
        Treatment of features that MJCF does not have; see `to_mjcf`.
    meshes : {"keep", "drop"}
        Keep the files of meshes, which MuJoCo reads in the formats STL, OBJ and MSH; or leave meshes out, on which no
        inertia depends.

    Returns
    -------
    mujoco.MjModel
        `kinetree.conventions.MuJoCo` converts states.

    Raises
    ------
    UnsupportedError
        The format does not support features of the model; the message names them.
    MJCFError
        MuJoCo's compiler refuses the model, as for a mesh in another format.

    Examples
    --------
    >>> import kinetree as kt
    >>> there = kt.io.to_mujoco(kt.load("quadruped", floating_base=True))
    >>> there.nq, there.nv
    (19, 18)
    """
    mujoco = require_mujoco()
    text = to_mjcf(model, unsupported=unsupported, meshes=meshes)
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        more = "; meshes='drop' leaves out meshes" if "mesh" in str(error) else ""
        raise MJCFError(f"MuJoCo refuses model {model.name!r}: {' '.join(str(error).split())}{more}") from None
