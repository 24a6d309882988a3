"""Rows of constraints on reduced and on maximal coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_RATES
from kinetree.arguments import a_model, a_name, a_truth_value, array, checked, number, refuse
from kinetree.compiler.calls import public_call
from kinetree.errors import NonFiniteError, ShapeError
from kinetree.integrators.system import System


@dataclass(frozen=True, eq=False)
class Rows:
    r"""Conditions on velocities or accelerations of a model, equalities or inequalities.

    .. math:: G_r \dot q_r + G_m \Phi = (\ge)\ \text{target}, \qquad
       G_r \ddot q_r + G_m (J \ddot q_r + \dot J \dot q_r) + \text{bias} = (\ge)\ \text{target}

    Parameters
    ----------
    reduced : (m, nv) array, optional
        G_r, over the velocities of the joints [1 or m].
    maximal : (m, nb, 6) array, optional
        G_m, over the twists of the bodies in their coordinates [m or 1]; body 0 is the world.
    target : (m,) array, optional
        Zero by default [rad/s^2 or m/s^2; of velocities per second].
    bias : (m,) array, optional
        ``Gdot_r qd_r + Gdot_m Phi`` [rad/s^2 or m/s^2], zero by default; not used for velocities.
    inequality : bool
        ``>=`` instead of ``=``.
    name : str
        For messages.

    Notes
    -----
    Source: Sueda, eq. 2.98-2.105. Multipliers exert ``G_r^T lambda`` and ``J^T G_m^T lambda``; those of inequalities
    are not negative.

    See Also
    --------
    kinetree.redmax.accelerations, kinetree.redmax.velocities

    Examples
    --------
    The elbow of an arm may not turn faster than 1 rad/s, ``-v >= -1``:

    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> slow = kt.redmax.Rows(reduced=[[0.0, -1.0]], target=[-1.0], inequality=True, name="elbow")
    >>> v, impulses = kt.redmax.velocities(arm, [0.1, 0.2], [0.0, 0.9], [0.0, 9.0], [slow], dt=0.1)
    >>> v[1].round(12), bool(impulses[0] > 0)
    (np.float64(1.0), True)
    """

    reduced: np.ndarray | None = None
    maximal: np.ndarray | None = None
    target: np.ndarray | None = None
    bias: np.ndarray | None = None
    inequality: bool = False
    name: str = "rows"

    def __post_init__(self) -> None:
        what = f"Rows {self.name!r}"
        if not isinstance(self.inequality, (bool, np.bool_)):
            refuse(f"{what}: inequality", self.inequality, "True or False")
        given = {name: getattr(self, name) for name in ("reduced", "maximal") if getattr(self, name) is not None}
        if not given:
            refuse(what, self, "rows of reduced coordinates, of maximal ones, or of both")
        found = {name: np.array(array(f"{what}: {name}", x), float) for name, x in given.items()}
        count = {len(x) for x in found.values() if x.ndim}
        dimensions = {"reduced": 2, "maximal": 3}
        for name, x in found.items():
            if x.ndim != dimensions[name] or len(count) != 1:
                raise ShapeError(
                    f"{what}: {name} has shape {x.shape}, expected {'(m, nv)' if name == 'reduced' else '(m, nb, 6)'}, "
                    "as many rows in both",
                    found=x.shape,
                )
        (m,) = count
        for name in ("target", "bias"):
            x = getattr(self, name)
            found[name] = np.zeros(m) if x is None else array(f"{what}: {name}", x, shape=(m,))
        for name, x in found.items():
            x = np.array(x, float)
            if not np.isfinite(x).all():
                raise NonFiniteError(f"{what}: {name} has an entry that is NaN or infinite, expected finite numbers.")
            x.setflags(write=False)
            object.__setattr__(self, name, x)

    def __len__(self) -> int:
        return len(self.target)


def stacked(model, rows) -> tuple:
    """All rows: G_r, G_m or None, target, bias, and which are inequalities; names of each."""
    found = list(rows) if not isinstance(rows, Rows) and hasattr(rows, "__iter__") else [rows]
    for each in found:
        if not isinstance(each, Rows):
            refuse("rows", each, "a sequence of kt.redmax.Rows")
        for what, expected in (("reduced", (model.nv,)), ("maximal", (model.nb, 6))):
            x = getattr(each, what)
            if x is not None and x.shape[1:] != expected:
                raise ShapeError(
                    f"Rows {each.name!r}: {what} has rows of shape {x.shape[1:]}, expected {expected} for model "
                    f"{model.name!r}",
                    found=x.shape[1:],
                    expected=expected,
                )
    m = sum(map(len, found))
    reduced, maximal = np.zeros((m, model.nv)), None
    if any(each.maximal is not None for each in found):
        maximal = np.zeros((m, model.nb, 6))
    start = 0
    for each in found:
        part = slice(start, start + len(each))
        if each.reduced is not None:
            reduced[part] = each.reduced
        if each.maximal is not None:
            maximal[part] = each.maximal
        start = part.stop
    target, bias = (np.concatenate([getattr(each, what) for each in found] or [[]]) for what in ("target", "bias"))
    inequality = np.array([each.inequality for each in found for _ in range(len(each))], bool)
    return reduced, maximal, target, bias, inequality, [each.name for each in found for _ in range(len(each))]


@checked(model=a_model)
def prescribed(model, values) -> Rows:
    """Rows that prescribe accelerations, or velocities, of joints: hybrid dynamics.

    Parameters
    ----------
    model : Model
    values : mapping of str to float or sequence of floats
        For each joint by name one number for each of its velocities [rad/s^2 or m/s^2; of velocities per second].

    Returns
    -------
    Rows
        Their multipliers are the forces that the joints need besides tau [N m or N].

    Raises
    ------
    UnknownNameError, ShapeError

    Notes
    -----
    Source: Sueda, eq. 2.106-2.107.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> rows = kt.redmax.prescribed(arm, {"elbow": 2.0})
    >>> a, tau = kt.redmax.accelerations(arm, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0], [rows])
    >>> a[1].round(12), tau.shape
    (np.float64(2.0), (1,))
    """
    if not isinstance(values, Mapping):
        refuse("prescribed: values", values, "a mapping from names of joints to numbers")
    G, target = [], []
    for joint, given in values.items():
        slot = model.v_slice[model.joint(joint)]
        numbers = array(f"prescribed: {joint}", given)
        numbers = array(f"prescribed: {joint}", np.atleast_1d(numbers), shape=(slot.stop - slot.start,))
        G += np.eye(model.nv)[slot].tolist()
        target += numbers.tolist()
    return Rows(reduced=np.reshape(G, (-1, model.nv)), target=target, name="prescribed")


@checked(model=a_model)
def model_rows(model, q, v, *, t=None, baumgarte=(0.0, 0.0)) -> Rows:
    """The rows of a model's own constraints, those that its dynamics solve for: loops, couplings, prescribed motions.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    t : float, optional
        Time [s], of models that depend on it: their rows get the accelerations of the motions.
    baumgarte : (float, float)
        alpha and beta [1/s]: the rows get the accelerations ``-2 alpha G v - beta^2 phi``. For velocities give (0,
        sqrt(gamma)): they get ``-gamma phi``.

    Returns
    -------
    Rows

    Notes
    -----
    Source: Sueda, eq. 1.82 and 2.98-2.101; `closed_loops_jacobian`, `closed_loops_bias` and `closed_loops_error`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> bar = kt.models.four_bar()
    >>> q, v = bar.keyframe("initial")
    >>> a, lam = kt.redmax.accelerations(bar, q, v, [1.0, 0.0, 0.0], [kt.redmax.model_rows(bar, q, v)])
    >>> bool(np.allclose(a, kt.forward_dynamics(bar, q, v, [1.0, 0.0, 0.0])))
    True
    """
    pair = np.ravel(np.asarray(baumgarte, object)).tolist()
    if len(pair) != 2:
        refuse("model_rows: baumgarte", baumgarte, "two numbers, alpha and beta")
    alpha, beta = (number("model_rows: baumgarte", x, least=0.0) for x in pair)
    if model.equipment is not None and any(c.row_kind != "equality" for c in model.constraints):
        refuse("model_rows: model", model, "a model whose constraints are equalities")
    kept = list(model.independent_rows())
    now = clock("model_rows", model, t, model.time_dependent or model.has_given_motions)
    K, bias, error = (public_call(f"closed_loops_{what}") for what in ("jacobian", "bias", "error"))
    G = K(model, q, **now)[kept]
    v = array("model_rows: v", v, shape=(model.nv,))
    rate = System(model).function(CONSTRAINT_RATES)(q, v, **now)[kept] if now else G @ v
    target = -2.0 * alpha * rate - beta**2 * error(model, q, **now)[kept]
    return Rows(reduced=G, bias=bias(model, q, v, **now)[kept], target=target, name="constraints of the model")


def tree_time(what: str, model, t) -> dict[str, float]:
    """The time as an argument of algorithms of the tree, if its joints depend on it."""
    if model.has_given_motions and not model.time_dependent:
        return {}  # these are rows
    return clock(what, model, t, model.time_dependent)


def clock(what: str, model, t, needed: bool) -> dict[str, float]:
    """The time as an argument, by name."""
    if not needed:
        return {} if t is None else refuse(f"{what}: t", t, f"None, since model {model.name!r} does not depend on time")
    if t is None:
        refuse(f"{what}: t", t, f"the time [s], on which model {model.name!r} depends")
    return {"t": number(f"{what}: t", t)}


@checked(model=a_model, frame=a_name, inequality=a_truth_value)
def point_rows(model, q, v, frame, directions, *, at=(0.0, 0.0, 0.0), t=None, inequality=False, target=None) -> Rows:
    """Rows for the velocity of a point of a body along directions in the world: rows of maximal coordinates.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    frame : str
    directions : (m, 3) array
        In world coordinates [1].
    at : (3,) array
        The point in the frame [m].
    t : float, optional
        Time [s], of models whose joints depend on it.
    inequality : bool
        The point may move along a direction, not against it.
    target : (m,) array, optional
        Of its acceleration, or velocity, along the directions [m/s^2; of velocities m/s].

    Returns
    -------
    Rows
        ``n^T R Gamma(x)``, and as bias ``n^T R [w] Gamma(x) Phi``.

    Raises
    ------
    UnknownNameError, ShapeError

    Notes
    -----
    Source: Sueda, eq. 1.12, 1.75-1.77, 2.93-2.97, for directions that do not move.

    Examples
    --------
    The tip of an arm on a horizontal floor: it cannot sink.

    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> floor = kt.redmax.point_rows(arm, [1.0, 0.5], [0.0, 0.0], "lower", [[0, 0, 1]], at=(0, 0, -1), inequality=True)
    >>> a, force = kt.redmax.accelerations(arm, [1.0, 0.5], [0.0, 0.0], [0.0, 0.0], [floor])
    >>> bool(force[0] > 0)
    True
    """
    n = np.atleast_2d(array("point_rows: directions", directions, shape=(..., 3)))
    place = model.frame(frame)
    i, X = place.body, place.X_FB
    x = np.array(list(X.r), float) + np.array(X.E.T.matrix.rows, float) @ array("point_rows: at", at, shape=(3,))
    now = tree_time("point_rows", model, t)
    R = public_call("forward_kinematics")(model, q, **now)[0][i]
    w, u = np.split(public_call("body_velocities")(model, q, v, **now, reference="local")[i], 2)
    local = n @ R  # the directions in body coordinates
    G = np.zeros((len(n), model.nb, 6))
    if i:
        G[:, i] = np.concatenate([np.cross(x, local), local], axis=1)  # n . (u + w x x)
    bias = local @ np.cross(w, u + np.cross(w, x))
    return Rows(maximal=G, bias=bias, target=target, inequality=inequality, name=f"point of {frame}")
