"""Initial states of muscles: fiber lengths in equilibrium with their tendons."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, array, checked
from kinetree.compiler.calls import public_call
from kinetree.errors import ModelError
from kinetree.muscles.equilibrium import fiber_length
from kinetree.muscles.fiber import least_projection, pennated


@checked(model=a_model)
def equilibrate(model, q, v=None, x=None) -> np.ndarray:
    """Internal states whose muscles are in equilibrium: fiber lengths at which fiber and tendon pull equally.

    Parameters
    ----------
    model : Model
    q : array (..., nq)
        Positions [rad or m].
    v : array (..., nv), optional
        Velocities [rad/s or m/s]: the fibers move as with rigid tendons. By default nothing moves.
    x : array (..., nx), optional
        Activations [1], and the states of other elements, which stay; by default the initial states.

    Returns
    -------
    x : array (..., nx)
        With the fiber lengths of muscles with compliant tendon [m].

    Raises
    ------
    ShapeError
        An array has another shape.
    ModelError
        A path is shorter than the slack tendon and the shortest fiber together.

    Notes
    -----
    Safeguarded Newton steps on the force balance, see ``kinetree.muscles.equilibrium``.

    *Source*: Millard et al. (2013), section 2.3.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.arm26(tendon="compliant")
    >>> x = kt.muscles.equilibrate(model, [0.0, 0.5])
    >>> bool(abs(kt.dynamics.force_state_rates(model, [0.0, 0.5], [0.0, 0.0], x=x)[1::2]).max() < 1e-9)
    True
    """
    q = array("equilibrate: q", q, "positions", shape=(..., model.nq))
    v = np.zeros(model.nv) if v is None else array("equilibrate: v", v, "velocities", shape=(..., model.nv))
    x = model.initial_internal() if x is None else array("equilibrate: x", x, "internal states", shape=(..., model.nx))
    many = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], np.shape(x)[:-1])
    found = np.array(np.broadcast_to(np.asarray(x, dtype=float), (*many, model.nx)))
    lengths, arms = public_call("muscles_lengths")(model, q), public_call("muscles_moment_arms")(model, q)
    rates = -np.einsum("...mk,...k->...m", arms, v)
    for n, muscle in enumerate(model.muscles):
        if muscle.tendon == "compliant":
            entries = found[..., model.x_index(muscle.name)]
            shortest = muscle.tendon_slack_length + least_projection(muscle)
            if np.min(lengths[..., n]) < shortest:
                raise ModelError(
                    f"muscle {muscle.name!r}: its path is {np.min(lengths[..., n]):.6g} m long, shorter than its slack "
                    f"tendon and its shortest fiber, {shortest:.6g} m: no fiber length is in equilibrium. Is its "
                    "tendon_slack_length too long?",
                    muscle=muscle.name,
                )
            fiber, cosine = pennated(muscle, lengths[..., n] - muscle.tendon_slack_length)
            entries[..., 1] = fiber_length(muscle, entries[..., 0], lengths[..., n], rates[..., n] * cosine)
    return found
