"""``load_mjcf``: a Model from an MJCF file, compiled by MuJoCo."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike

import numpy as np

from kinetree.arguments import a_name, a_path, a_truth_value, checked, some_paths
from kinetree.errors import KinetreeError, ModelError, NonFiniteError
from kinetree.io.mesh_paths import as_folders
from kinetree.io.mjcf.body_forces import add_body_forces, add_free_springs, add_higher_orders
from kinetree.io.mjcf.compile import Compiled, compile_sources, require_mujoco
from kinetree.io.mjcf.equipment import add_equipment
from kinetree.io.mjcf.ignored import report_ignored
from kinetree.io.mjcf.layout import layout
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import check_supported, physics_of
from kinetree.io.mjcf.shapes import add_shapes, add_sites
from kinetree.io.mjcf.sources import Sources
from kinetree.io.mjcf.stops import add_rotation_stops
from kinetree.io.mjcf.tree import add_tree
from kinetree.io.options import Options
from kinetree.io.xml.reader import values_of
from kinetree.model import ModelBuilder


@checked(source=a_path, name=a_name, merge_fixed=a_truth_value, package_dirs=some_paths)
def load_mjcf(
    source: str | PathLike,
    *,
    name: str | None = None,
    floating_base: bool | None = None,
    base_joint: str = "root_joint",
    merge_fixed: bool = True,
    package_dirs: str | PathLike | Iterable[str | PathLike] = (),
    unsupported: str = "raise",
    inertia: str = "raise",
    massless: str = "raise",
):
    """Load a model from an MJCF file. It is compiled by the package ``mujoco`` (extra ``mjcf``).

    Parameters
    ----------
    source : str or path
        The file, or the text of one (it begins with ``<``).
    name : str, optional
        Name of the model; default: the one in the file.
    floating_base : bool, optional
        None: as in the file. True: the root body moves freely, by a free joint named ``base_joint`` if the file gives
        it none. False: the root's free joint is made fixed.
    base_joint : str
        Name of a free joint that ``floating_base=True`` adds.
        Where the file has a joint of the default's name, fixed or not, it gets a number, which is reported; any
        other name that the file has is an error.
    merge_fixed : bool
        True: bodies without joints become frames of the body they are attached to, which gets their inertia. False:
        they stay bodies, with fixed joints.
    package_dirs : path or iterable of paths
        Folders in which ``package://`` and ``model://`` mesh names are looked up.
    unsupported : {"raise", "drop"}
        Treatment of physics in the file that the model does not support.
    inertia : {"raise", "project", "diagonal", "accept"}
        Treatment of an inertia in an ``<inertial>`` that no body can have: refuse it, take the nearest possible one,
        drop its products of inertia, or take it as it is.
    massless : {"raise", "lock"}
        Treatment of joints that move no inertia: refuse them, or make them fixed.

    Returns
    -------
    Model
        Bodies and joints in the order of the file; ``model.report`` lists everything ignored, assumed or changed.

    Raises
    ------
    MJCFError
        If the file breaks the format, or MuJoCo's compiler refuses it; the message begins with file and line.
    UnsupportedError
        If the file contains physics that the model does not support.
    InertiaError, ModelError
        If a body has an impossible inertia, or a joint moves none.
    MissingDependencyError
        If ``mujoco`` is not installed.

    Notes
    -----
    q is MuJoCo's qpos. v is MuJoCo's qvel but for free joints: there it is the body's twist (angular, linear) in body
    coordinates, and MuJoCo's is (linear in world coordinates, angular). Several joints on one body become a chain of
    bodies without mass; the frame with the body's name is where the file has it. The keyframe "initial" is MuJoCo's
    qpos0. Joint equalities that are linear become couplings, which hold exactly; connect and weld become loop joints;
    tendons, actuators and muscles are kept as data, and ``model.unsupported`` names those that exert forces by
    themselves. Geoms with contype and conaffinity 0 are "visual", those in groups
    3 and above "collision", the others both.

    *Source* MuJoCo's XML reference and chapter Computation.

    Examples
    --------
    >>> model = load_mjcf('''<mujoco model="pendulum"><worldbody><body name="rod">
    ...     <joint name="pivot" axis="0 1 0" damping="0.1"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02"/>
    ...     </body></worldbody></mujoco>''')
    >>> model.name, model.joint_names, model.damping.tolist()
    ('pendulum', ('pivot',), [0.1])
    """
    options = Options(name, floating_base, base_joint, merge_fixed, package_dirs, unsupported, inertia, massless)
    options.check("load_mjcf", base_is_free=floating_base)
    require_mujoco()
    sources = Sources(source)
    notes = Notes(sources, drop=options.drop)
    compiled = compile_sources(source, notes, package_dirs=as_folders(package_dirs), inertia=inertia, massless=massless)
    return model_of(compiled, notes, options)


def model_of(compiled: Compiled, notes: Notes, options: Options):
    """The Model of a compiled one; errors are those of `load_mjcf`."""
    before = len(notes.entries)
    locked: set[str] = set()
    while True:
        del notes.entries[before:]
        for joint in sorted(locked):
            message = f"joint '{joint}' moves no inertia: made fixed"
            notes.warning(("joint", joint), message, "massless-leaf")
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the model refuses values that are not finite
                return _build(compiled, notes, options, locked)
        except (ModelError, NonFiniteError) as error:
            joint = getattr(error, "joint", None)
            if options.massless == "lock" and joint is not None and hasattr(error, "bodies") and joint not in locked:
                locked.add(joint)
            elif hasattr(error, "file"):
                raise
            else:
                raise _with_place(error, notes.sources) from error


def _build(compiled: Compiled, notes: Notes, options: Options, locked: set[str]):
    mj, sources = compiled.model, notes.sources
    if mj.nbody == 1 and not mj.ngeom and not mj.nsite:
        message = "the file holds no body and no shape"
        raise sources.main.root.fail(message, ModelError, code="no-model", repair="is it a part that others include?")
    place = layout(mj, options.floating_base, options.base_joint, locked, notes)
    physics = physics_of(place, notes)
    check_supported(place, physics, notes)
    path = sources.main.path
    name = options.name or sources.main.root.element.get("model") or (path.stem if path is not None else "model")
    builder = ModelBuilder(name, gravity=physics.gravity, accept_impossible_inertia=options.accept)
    builder.source = sources.main.file
    add_tree(builder, place, physics, compiled.inertias, notes)
    add_sites(builder, place)
    add_shapes(builder, place, compiled, notes)
    add_equipment(builder, place, physics, notes)
    add_body_forces(builder, place, physics, notes)
    add_higher_orders(builder, place, physics)
    add_free_springs(builder, place, physics)
    add_rotation_stops(builder, place, physics, notes)
    report_ignored(mj, notes)
    notes.raise_refused()
    builder.report = notes.report()
    return builder.build(merge_fixed=options.merge_fixed)


def _with_place(error: KinetreeError, sources: Sources) -> Exception:
    """An error of the model or its builder, with the file and line of the body or joint that it names."""
    if isinstance(error, NonFiniteError) and (infinite := sources.number_error("inf", "this number must be finite")):
        return infinite
    values = values_of(error)
    negative = "is negative, expected >= 0" in error.message
    code = "massless-leaf" if hasattr(error, "bodies") else "negative-dissipation" if negative else "model"
    values.setdefault("code", code)
    named = re.search(r"\b(body|joint) '([^']*)'", error.message)  # messages begin with the object
    return sources.fail(named and named.groups(), error.message, type(error), **values)
