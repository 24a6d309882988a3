"""Attachments of nodes to frames of a model, and the motion of the attached points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, refuse, text


@dataclass(frozen=True)
class Attachment:
    """Nodes that ride on a frame of the model.

    Parameters
    ----------
    nodes : int or sequence of int
    frame : str
        Of the model; "world" fixes the nodes.
    at : (3,) or (n, 3) array_like, optional
        The position of the node, or of each, in the frame [m]; default: where they lie at rest in the position ``q``
        that `Coupled` is given.
    body : str, optional
        Name of the deformable; may be left out if there is only one.

    Raises
    ------
    ArgumentError

    Notes
    -----
    Source: Sueda, eq. 2.87-2.89: attached nodes have no freedoms of their own; their velocity is ``J_am V`` of the
    frame's twist V, their masses and forces act on the body.
    """

    nodes: int | Sequence[int]
    frame: str
    at: Sequence | None = None
    body: str | None = None

    def __post_init__(self) -> None:
        text("Attachment: frame", self.frame, "the name of a frame")
        if np.size(self.nodes) == 0:
            refuse("Attachment: nodes", self.nodes, "at least one number of a node")
        if self.body is not None:
            text("Attachment: body", self.body, "the name of a deformable")
        if self.at is not None:
            places = array("Attachment: at", self.at, "positions in the frame [m]", shape=(..., 3))
            if not np.isfinite(places).all():
                refuse("Attachment: at", self.at, "finite positions in the frame [m]")
            object.__setattr__(self, "at", tuple(map(tuple, np.atleast_2d(places).tolist())))


class AttachedPoints:
    """Points on frames of a model.

    Parameters
    ----------
    frames : (n,) sequence of int
        The frame of each point, a number in the list of frames that `motion` is given.
    at : (n, 3) array
        Positions in the frames [m].
    """

    def __init__(self, frames: Sequence[int], at: np.ndarray) -> None:
        self.frames, self.at = np.asarray(frames, int), np.asarray(at, float).reshape(-1, 3)

    def __len__(self) -> int:
        return len(self.frames)

    def arms(self, R: np.ndarray) -> np.ndarray:
        """Vectors from the frames' origins to the points, in world axes (n, 3) [m]."""
        return np.einsum("nij,nj->ni", R[self.frames], self.at)

    def positions(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Positions (n, 3) [m], from the poses of the frames."""
        return p[self.frames] + self.arms(R)

    def jacobian(self, R: np.ndarray, J: np.ndarray) -> np.ndarray:
        """``J_am J_mr``: velocities of the points per joint velocity (n, 3, nv).

        ``J_am = [-[r] 1]`` of a twist in world axes at the frame's origin: eq. 2.87 of Sueda, whose twist is in body
        axes.
        """
        r, J = self.arms(R), J[self.frames]
        return J[:, 3:] + _cross(J[:, :3].transpose(0, 2, 1), r[:, None, :]).transpose(0, 2, 1)

    def bias(self, R: np.ndarray, twists: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """``d(J_am J_mr)/dt v``: accelerations of the points without those of the joints (n, 3) [m/s^2].

        ``twists`` and ``rates`` are the frames' twists and classical accelerations without those of the joints, each
        [angular; linear] in world axes: eq. 2.88-2.89 of Sueda.
        """
        r, w, rate = self.arms(R), twists[self.frames, :3], rates[self.frames]
        return rate[:, 3:] + _cross(rate[:, :3], r) + _cross(w, _cross(w, r))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Vector products along the last axis; of few vectors, numpy.cross takes several times as long."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
