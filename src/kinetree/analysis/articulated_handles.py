"""Articulated bodies with any handles, from arrays: their inverse inertia, and their inertia if there is one."""

from __future__ import annotations

import dataclasses
from collections import namedtuple

import numpy as np

from kinetree.algorithms.articulated_handles import METHODS, SINGULAR, articulated_body
from kinetree.algorithms.gears import refuse_gears
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, a_word, checked, refuse, some_names
from kinetree.errors import ModelError, SingularityError, TopologyError, unknown_name
from kinetree.native.arrays import as_arrays, explain, nested
from kinetree.native.singularity import singularity

InverseInertia = namedtuple("InverseInertia", ("Phi", "b"))
Inertia = namedtuple("Inertia", ("IA", "pA"))


@checked(model=a_model, handles=some_names, bodies=some_names, method=a_word)
def articulated_inverse_inertia(
    model, q, v=None, tau=None, f_ext=None, *, handles, bodies=None, method: str = "projection"
) -> InverseInertia:
    r"""Inverse inertia and bias acceleration of a mechanism, or of a part of it, about some frames.

    .. math:: a = \Phi^A f + b^A

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array, optional
        Joint velocities [rad/s or m/s]; default zero.
    tau : (..., nv) array, optional
        Joint forces [N m or N]; default zero.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench on each body beside those on the handles [N m, N], world coordinates about the world's origin.
    handles : str or sequence of str
        Frames on which the forces f act and whose accelerations a are asked for; a body's name is that of its frame.
    bodies : sequence of str, optional
        The articulated body: these bodies and the joints among them. All other joints are cut, and what was beyond them
        does nothing. Include the world's name to keep the joints that hold to it. Default: the whole mechanism.
    method : {"projection", "assembly"}
        The equations of motion projected on the handles; or single bodies joined one after the other, for which every
        body needs an invertible inertia.

    Returns
    -------
    Phi : (..., 6*m, 6*m) array
        For m handles, block (i, j) maps a wrench on handle j [N m, N] to the spatial acceleration of handle i [rad/s^2,
        m/s^2], both in local coordinates of the frame; symmetric, of as high a rank as the handles have freedoms.
    b : (..., 6*m) array
        Spatial accelerations of the handles without such wrenches [rad/s^2, m/s^2], gravity at work.

    Raises
    ------
    UnknownNameError
        No frame or body has this name.
    TopologyError
        A handle is on none of the bodies.
    ShapeError, NonFiniteError, QuaternionError, InertiaError

    Notes
    -----
    Source: Featherstone (2008), eq. 7.3-7.14 (projection), 7.57-7.63 (assembly). Of the whole mechanism it is the
    inverse of the operational-space inertia. Cost: projection O(n^3), assembly O(n m^2).
    Identity: both methods agree; without handles' forces b is the acceleration that `aba` causes.

    See Also
    --------
    articulated_inertia

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> Phi, b = kt.dynamics.articulated_inverse_inertia(arm, arm.neutral(), handles="tool")
    >>> Phi.shape, bool(np.allclose(Phi, Phi.T))
    ((6, 6), True)
    """
    return InverseInertia(*_answers(model, q, v, tau, f_ext, handles, bodies, method))


@checked(model=a_model, handles=some_names, bodies=some_names, method=a_word)
def articulated_inertia(
    model, q, v=None, tau=None, f_ext=None, *, handles, bodies=None, method: str = "projection"
) -> Inertia:
    r"""Articulated-body inertia and bias force of a mechanism, or of a part of it, about some frames.

    .. math:: f = I^A a + p^A

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array, optional
        Joint velocities [rad/s or m/s]; default zero.
    tau : (..., nv) array, optional
        Joint forces [N m or N]; default zero.
    f_ext : (..., nb, 6) array or mapping of body name to (..., 6) array, optional
        External wrench on each body beside those on the handles [N m, N], world coordinates about the world's origin.
    handles : str or sequence of str
        Frames on which the forces f act; a body's name is that of its frame.
    bodies : sequence of str, optional
        The articulated body, as for `articulated_inverse_inertia`; default the whole mechanism.
    method : {"projection", "assembly"}
        As for `articulated_inverse_inertia`.

    Returns
    -------
    IA : (..., 6*m, 6*m) array
        For m handles, block (i, j) maps the spatial acceleration of handle j [rad/s^2, m/s^2] to a wrench on handle i
        [N m, N], both in local coordinates of the frame.
    pA : (..., 6*m) array
        Wrenches that keep the handles from accelerating [N m, N].

    Raises
    ------
    ModelError
        The handles cannot accelerate in all directions, so there is no such inertia.
    UnknownNameError, TopologyError, ShapeError, NonFiniteError, QuaternionError, InertiaError

    Notes
    -----
    Source: Featherstone (2008), eq. 7.1-7.2, 7.14. Of the whole mechanism it is the operational-space inertia.
    Identity: of a body and its subtree it is the I^A of the articulated-body algorithm (table 7.1).

    See Also
    --------
    articulated_inverse_inertia : it always exists.

    Examples
    --------
    A box of 2 kg with a cylinder of 1 kg that turns about x and slides along y (Featherstone, example 7.1):

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.box_cylinder(2.0, 0.5, 1.0, 0.3)
    >>> bodies = ["box", *model.body_names[2:]]
    >>> IA, pA = kt.dynamics.articulated_inertia(model, model.neutral(), handles="box", bodies=bodies)
    >>> np.diag(IA).round(12).tolist()
    [0.5, 0.8, 0.8, 3.0, 2.0, 3.0]
    """
    Phi, b = _answers(model, q, v, tau, f_ext, handles, bodies, method)
    scale = np.sqrt(np.einsum("...ii->...i", Phi))
    with np.errstate(all="ignore"):
        scaled = Phi / (scale[..., :, None] * scale[..., None, :])
    freedoms = [_rank(x) for x in scaled.reshape(-1, *Phi.shape[-2:])]
    if min(freedoms, default=Phi.shape[-1]) < Phi.shape[-1]:
        raise ModelError(
            f"the handles {_names(handles)} of model {model.name!r} have {min(freedoms)} freedoms of acceleration, "
            f"expected {Phi.shape[-1]}: no finite inertia describes them. articulated_inverse_inertia always exists.",
            freedoms=min(freedoms),
            expected=Phi.shape[-1],
        )
    IA = np.linalg.inv(scaled) / (scale[..., :, None] * scale[..., None, :])
    IA = 0.5 * (IA + np.swapaxes(IA, -1, -2))
    return Inertia(IA, -(IA @ b[..., None])[..., 0])


def _rank(scaled) -> int:
    moving = np.isfinite(np.diag(scaled))
    return int(np.sum(np.linalg.eigvalsh(scaled[np.ix_(moving, moving)]) > SINGULAR))


def _answers(model, q, v, tau, f_ext, handles, bodies, method):
    """Phi and b at the frames."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS, "articulated_inverse_inertia")
    refuse_gears(model, "articulated_inverse_inertia")
    zero = np.zeros(model.nv, np.float32)  # the narrowest: q says how precise the answer is
    given = {"q": q, "v": zero if v is None else v, "tau": zero if tau is None else tau}
    spec = ALGORITHMS["aba"]
    arrays, batch, dtype = as_arrays(spec, model, given | ({} if f_ext is None else {"f_ext": f_ext}))
    if error := explain(spec, model, arrays, batch):
        raise error
    frames = [model.frame(name) for name in _names(handles)]
    if not frames:
        refuse("handles", handles, "the names of one frame or more")
    chosen = list(range(model.nb)) if bodies is None else sorted({model.body(name) for name in _names(bodies)})
    for frame in frames:
        if frame.body not in chosen:
            raise TopologyError(
                f"the handle {frame.name!r} is on body {model.body_names[frame.body]!r}, which is not among the bodies "
                f"{[model.body_names[i] for i in chosen]}.",
                frame=frame.name,
            )
    shapes = {name: spec.shape(name, model) for name in arrays}
    given = {name: np.broadcast_to(x, (*batch, *shapes[name])).astype(float) for name, x in arrays.items()}
    state = {name: nested(x, len(shapes[name])) for name, x in given.items()}
    bodies_with_handles = list(dict.fromkeys(frame.body for frame in frames))
    try:
        body = articulated_body(model, state, batch, chosen, bodies_with_handles, method)
    except SingularityError:
        named = dataclasses.replace(spec, name="articulated_inverse_inertia")
        raise singularity(named, model, arrays, batch) from None
    places = [6 * bodies_with_handles.index(frame.body) for frame in frames]
    X = [frame.X_FB.matrix() for frame in frames]
    at = list(zip(X, [slice(r, r + 6) for r in places], strict=True))
    Phi = [[X_m @ body.Phi[..., rows, columns] @ X_n.T for X_n, columns in at] for X_m, rows in at]
    b = [body.b[..., rows] @ X_m.T for X_m, rows in at]
    kind = np.float32 if dtype == np.float32 else np.float64  # NumPy factorizes in no other precision
    return np.block(Phi).astype(kind), np.concatenate(b, axis=-1).astype(kind)


def _names(names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
