"""The order in which a file names bodies and frames, so that reading numbers them as the model does."""

from __future__ import annotations

from kinetree.model.parts import Frame


def attachments(model) -> list[list[Frame | int]]:
    """What every body carries, its further frames and its children, in an order that keeps both lists of the model.

    Returns
    -------
    list
        Per body a list of frames of ``model.frames[model.nb:]`` and numbers of children.

    Notes
    -----
    A reader that goes depth first meets the frames of a subtree together, so a frame goes before the first child whose
    subtree holds a later frame.
    """
    first = [model.nf] * model.nb  # the first further frame in the subtree of every body
    frames: list[list[int]] = [[] for _ in range(model.nb)]
    for k in range(model.nb, model.nf):
        body = model.frames[k].body
        frames[body].append(k)
        first[body] = min(first[body], k)
    for i in model.inward():
        first[model.parent[i]] = min(first[model.parent[i]], first[i])
    carried: list[list[Frame | int]] = []
    for i in range(model.nb):
        order: list[Frame | int] = []
        waiting = iter(frames[i])
        k = next(waiting, model.nf)
        for child in model.children(i):
            while k < first[child] < model.nf:
                order.append(model.frames[k])
                k = next(waiting, model.nf)
            order.append(child)
        while k < model.nf:
            order.append(model.frames[k])
            k = next(waiting, model.nf)
        carried.append(order)
    return carried


def is_depth_first(model) -> bool:
    """Whether every subtree is numbered without a gap, as readers of nested files number it."""
    last = list(range(model.nb))
    size = [1] * model.nb
    for i in model.inward():
        p = model.parent[i]
        last[p], size[p] = max(last[p], last[i]), size[p] + size[i]
    return all(last[i] - i + 1 == size[i] for i in model.outward())
