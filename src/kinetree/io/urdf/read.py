"""``load_urdf``: a Model from a URDF file."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from kinetree.arguments import a_name, a_path, a_truth_value, checked, some_paths
from kinetree.errors import ModelError, URDFError
from kinetree.io.options import Options
from kinetree.io.urdf.loop_file import LoopFile, loop_file_of
from kinetree.io.urdf.model import build
from kinetree.io.urdf.plan import plan
from kinetree.io.xml.reader import Document


def a_loop_file(what: str, value: object) -> None:
    """A path, a truth value or None."""
    if value is not None and not isinstance(value, bool):
        a_path(what, value)


@checked(source=a_path, name=a_name, merge_fixed=a_truth_value, package_dirs=some_paths, loops=a_loop_file)
def load_urdf(
    source: str | PathLike,
    *,
    name: str | None = None,
    floating_base: bool = False,
    base_joint: str = "root_joint",
    merge_fixed: bool = True,
    package_dirs: str | PathLike | Iterable[str | PathLike] = (),
    unsupported: str = "raise",
    inertia: str = "raise",
    massless: str = "raise",
    inertia_from: str | None = None,
    density: float | None = None,
    loops: str | PathLike | bool | None = None,
):
    """Load a robot from a URDF file.

    Parameters
    ----------
    source : str or path
        The file, or the text of one (it begins with ``<``).
    name : str, optional
        Name of the model; default: the one in the file.
    floating_base : bool
        False: the root link is welded to the world. True: it moves freely, by a free joint named ``base_joint``; a
        root link called 'world' stays the fixed frame, and the one fixed joint that holds the robot there becomes
        free.
    base_joint : str
        Name of the free joint of a floating base.
        Where the file has a joint of the default's name, fixed or not, it gets a number, and the report notes it; any
        other name that the file has is an error.
    merge_fixed : bool
        True: links behind fixed joints become frames of the body they are attached to, which gets their inertia.
        False: they stay bodies, with fixed joints.
    package_dirs : path or iterable of paths
        Folders in which ``package://`` mesh names are looked up, before ``ROS_PACKAGE_PATH``.
    unsupported : {"raise", "drop"}
        Treatment of physics in the file that the model does not support.
    inertia : {"raise", "project", "diagonal", "accept"}
        Treatment of a tensor that no body can have: refuse it, take the nearest possible one, drop its products of
        inertia, or take it as it is. The report lists each link that was changed.
    massless : {"raise", "lock"}
        Treatment of a joint that moves nothing that resists it (no mass beyond it, or only on its axis), so that its
        acceleration is undefined: refuse it, or make it fixed at zero.
    inertia_from : {"collision", "visual"}, optional
        Give links without ``<inertial>`` the mass and inertia that their shapes of this role have, filled with
        ``density``; meshes need the package trimesh. The report lists each link. Default: no mass.
    density : float, optional
        Of ``inertia_from`` only [kg/m^3]; default 1000.
    loops : str, path or bool, optional
        A TOML or YAML file with loop joints and other constraints, which URDF does not have: see docs/formats.md.
        Default: ``robot.loops.toml`` or ``robot.loops.yaml`` beside ``robot.urdf``, if there is one; False: none.

    Returns
    -------
    Model
        Bodies in depth-first order, siblings in the order of the file's joints; ``model.report`` lists all that was
        ignored, assumed or changed.

    Raises
    ------
    URDFError
        If the file breaks the format; the message opens with file and line.
    FileFormatError
        If the file of the loops does.
    InertiaError
        If a link has an impossible inertia.
    ModelError
        If a joint moves no inertia.
    UnsupportedError
        If the file has physics that the model does not support.
    GeometryError
        If a link should get its inertia from a shape that has no volume.

    Notes
    -----
    Orientations are fixed-axis roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll). A continuous joint has one position
    variable, its angle. Mimic joints stay variables, tied by ``model.couplings``. Damping and friction of
    ``<dynamics>`` become `kinetree.forces` of the joints. A planar joint moves in the plane normal to its
    axis. A ``<limit>`` without lower and upper, or a missing one, means no limit, and the report notes it.

    *Source* the URDF specification (wiki.ros.org/urdf/XML).

    Examples
    --------
    >>> from kinetree import data
    >>> model = load_urdf(data.path("quadruped"), floating_base=True)
    >>> model.nq, model.nv
    (19, 18)
    """
    if density is not None and inertia_from is None:
        raise ModelError("load_urdf: density fills shapes that inertia_from names; give inertia_from, or leave it out.")
    density = 1000.0 if density is None else density
    options = Options(name, floating_base, base_joint, merge_fixed, package_dirs, unsupported, inertia, massless,
                      inertia_from, density)  # fmt: skip
    options.check("load_urdf", base_is_free=floating_base)
    side = loop_file_of(source, loops)
    planned = plan(Document(source, URDFError), options)
    return build(planned, options, None if side is None else LoopFile.read(side))
