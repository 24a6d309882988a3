"""Contact in the plan of a run: candidate pairs by the argument ``ground``, and the start on the ground."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.contacts import BodyPlaces
from kinetree.collision.material import Ground
from kinetree.integrators.methods import refuse_contacts
from kinetree.integrators.system import System, time_argument
from kinetree.queries.start import check_start
from kinetree.state_kinematics import Kinematics

VISIBLE = 1e-6  # [m] less is rounding, or the rest position of another run
UPWARD = 0.1  # cosine between up and the normal of a contact that carries weight
ITERATIONS = 30  # of the height: one on a plane, more on curved or finite shapes


def as_ground(ground):
    """An argument ``ground=``: None, True, False or a Ground; raises ArgumentError for others."""
    return ground if ground is None or ground is True or ground is False else Ground.of(ground)


def touching_model(model, ground, self_collision: bool, integrator):
    """The model of a run, with the candidate pairs that its arguments add or leave out.

    Parameters
    ----------
    model : Model
    ground : None, bool or Ground
    self_collision : bool
    integrator : str or object
        "auto", or a method.

    Returns
    -------
    Model
        The same object for the same arguments, so that it is compiled once.

    Raises
    ------
    UnsupportedError
        The method computes no contact.
    """
    if ground is not None or self_collision:
        key = ("touching", type(ground), ground, self_collision)
        made = model.functions.get(key)
        model = made or model.functions.setdefault(key, _with_pairs(model, ground, self_collision))
    if integrator != "auto":
        refuse_contacts("simulate", model, integrator)
    return model


def _with_pairs(model, ground, self_collision: bool):
    if ground is False:
        kept = [pair for pair in model.contacts if all(model.frame(frame).body for frame in pair.frames)]
        model = model.replace(contacts=kept) if len(kept) < len(model.contacts) else model
    if not (ground or self_collision):
        return model
    return model.with_contacts(ground or None, self_collision, meshes="hull")


def start_on_ground(model, q, is_given: bool, may_hover: bool = False) -> tuple[np.ndarray, list[str]]:
    """The start with bodies that move freely on the ground, if nobody gave it; refuse bodies inside of each other.

    Parameters
    ----------
    model : Model
    q : (nq,) array
    is_given : bool
        Whether the caller chose the position.
    may_hover : bool
        Whether a position above the ground stays: that of a file.

    Returns
    -------
    q : (nq,) array
    notes : list of str
    """
    notes, now = [], time_argument(model, 0.0)
    for root in model.children(0) if not is_given else ():
        moved, height = _lifted(model, q, root)
        if abs(height) > VISIBLE and not (may_hover and height < 0.0):
            q = moved
            notes.append(
                f"body {model.body_names[root]!r} is placed on the ground: {abs(height):.6g} m "
                f"{'higher' if height > 0.0 else 'lower'} than in the position of the model"
            )
    gaps = System(model).function("contact_gaps", checks=False)(q, *now)
    if not gaps.min(initial=0.0) < -VISIBLE:
        return q, notes
    check_start(model, q, t=0.0 if now else None)
    k = int(np.argmin(gaps))
    pair = next(pair for pair in reversed(model.contacts) if model.contact_labels.index(pair.labels[0]) <= k)
    where = f"{model.contact_labels[k]!r} ({pair.first} and {pair.second}) are {-gaps[k]:.4g} m inside of each other"
    return q, [*notes, f"at the start {where}: contact pushes them apart"]


def _lifted(model, q, root: int) -> tuple[np.ndarray, float]:
    """The position with a root body moved up or down until the lowest of its points is on the ground, and how far."""
    below, parts = {*model.subtree(root)}, []
    n = 0
    for pair in model.contacts:
        first, second = (model.frame(frame).body for frame in pair.frames)
        parts += [k for k in range(n, n + pair.count) if first == 0 and second in below]
        n += pair.count
    up = -np.array([float(x) for x in model.gravity])
    now = time_argument(model, 0.0)
    columns = BodyPlaces(model, Kinematics(model.at(0.0), q.tolist())).columns(root)
    if not parts or not up.any() or not columns:
        return q, 0.0
    up /= np.linalg.norm(up)
    S = np.array([[*angular, *linear] for angular, linear in columns], dtype=float).T
    rate = np.linalg.lstsq(S, np.concatenate((np.zeros(3), up)), rcond=None)[0]
    if np.abs(S @ rate - np.concatenate((np.zeros(3), up))).max() > 1e-9:
        return q, 0.0  # it does not move freely along the vertical
    system, step, height, moved = System(model), np.zeros(model.nv), 0.0, q
    for _ in range(ITERATIONS):
        _, normals, gaps = system.function("contact_points", checks=False)(moved, *now)
        slopes = normals[parts] @ up
        carries = slopes > UPWARD
        if not carries.any():
            return q, 0.0
        change = float(np.max(-gaps[parts][carries] / slopes[carries]))
        height += change
        step[model.v_slice[root]] = height * rate
        moved = system.function("integrate", checks=False)(q, step)
        if abs(change) < 1e-12:
            break
    return moved, height
