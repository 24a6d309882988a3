"""``load_sdf``: a Model from an SDF file."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from kinetree.arguments import a_name, a_path, a_truth_value, checked, some_paths
from kinetree.errors import SDFError
from kinetree.io.mesh_paths import as_folders
from kinetree.io.options import Options
from kinetree.io.sdf.model import Assembly
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.scopes import Reader
from kinetree.io.xml.reader import Document


@checked(source=a_path, name=a_name, merge_fixed=a_truth_value, package_dirs=some_paths)
def load_sdf(
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
    model: str | None = None,
):
    """Load a robot from an SDF file.

    Parameters
    ----------
    source : str or path
        The file, or the text of one (it begins with ``<``).
    name : str, optional
        Name of the model; default: the one in the file.
    floating_base : bool, optional
        None: as in the file; links that no joint connects to the world float, unless their model is static. False:
        those are welded to the world at their pose. True: links that fixed joints hold to the world are freed, too, and
        so is a static model that is alone in the file.
    base_joint : str
        Name of the free joint of a floating base; further ones have numbers: ``root_joint_2``.
        Where the file has a joint of the default's name, fixed or not, it gets a number, and the report notes it; any
        other name that the file has is an error.
    merge_fixed : bool
        True: links behind fixed joints become frames of the body they are attached to, which gets their inertia.
        False: they stay bodies, with fixed joints.
    package_dirs : path or iterable of paths
        Folders in which ``model://`` and ``package://`` names of meshes and included models are looked up first.
    unsupported : {"raise", "drop"}
        Treatment of physics in the file that the model does not support.
    inertia : {"raise", "project", "diagonal", "accept"}
        Treatment of a tensor that no body can have: refuse it, take the nearest possible one, drop its products of
        inertia, or take it as it is. The report lists each link that was changed.
    massless : {"raise", "lock"}
        Treatment of a joint that moves nothing that resists it: refuse it, or make it fixed at zero.
    model : str, optional
        Which of several models in the file to load; by default all models of a world, with names ``model::link``.

    Returns
    -------
    Model
        Bodies in depth-first order; ``model.report`` lists all that was ignored, assumed or changed.

    Raises
    ------
    SDFError
        If the file breaks the format; the message opens with file and line.
    InertiaError
        If a link has an impossible inertia.
    ModelError
        If a joint moves no inertia.
    UnsupportedError
        If the file has physics that the model does not support.

    Notes
    -----
    At q = 0 every joint is as the poses of the file put its links. The position of a free joint is that of its body in
    the world, so the pose of the file is the keyframe "initial": ``q, v = model.keyframe("initial")``.

    Joints become the tree in the order of the file; one whose links other joints connect already closes a loop and is a
    loop joint of the model. A joint that the tree meets from its child's side is reversed, with the same variables.

    A body stands at the origin of its joint, in the axes of its link. Where that is not the link's own frame,
    ``model.frame(link)`` is the latter.

    *Source* the SDFormat specification, versions 1.0 to 1.12 (sdformat.org/spec).

    Examples
    --------
    >>> pendulum = '''
    ... <sdf version="1.7"><model name="pendulum">
    ...   <link name="rod"><pose>0 0 1 0 0 0</pose>
    ...     <inertial><pose>0 0 -0.5 0 0 0</pose><mass>2</mass>
    ...       <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.01</izz></inertia></inertial></link>
    ...   <joint name="pivot" type="revolute"><parent>world</parent><child>rod</child>
    ...     <axis><xyz>0 1 0</xyz></axis></joint>
    ... </model></sdf>'''
    >>> load_sdf(pendulum)
    <Model 'pendulum': 1 moving bodies, nq=1, nv=1>
    """
    options = Options(name, floating_base, base_joint, merge_fixed, package_dirs, unsupported, inertia, massless)
    options.check("load_sdf", base_is_free=floating_base is not False)
    document = Document(source, SDFError)
    notes = Notes(options.drop)
    reader = Reader(document, as_folders(package_dirs), notes, model)
    return Assembly(reader.world(), reader, notes, options).model()
