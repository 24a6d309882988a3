"""Objects as HTML for notebooks: text and tables, escaped, since names of files and models may be anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST = 40  # rows of a table
PAD = "padding: 1px 12px 1px 0"


def preformatted(self) -> str:
    """The text of an object as HTML: ``_repr_html_`` of reports.

    Examples
    --------
    >>> preformatted("a < b")
    '<pre style="line-height: 1.2; white-space: pre-wrap">a &lt; b</pre>'
    """
    return f'<pre style="line-height: 1.2; white-space: pre-wrap">{escape(str(self))}</pre>'


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], count: int) -> str:
    """A table of at most `MOST` rows with a title; numbers are aligned to the right.

    Parameters
    ----------
    title : str
    head : sequence of str
    rows : iterable of sequence
    count : int
        Number of all rows.

    Examples
    --------
    >>> "&lt;script&gt;</td>" in table("t", ["name"], [["<script>"]], 1)
    True
    """
    lines = [f"<div><strong>{escape(title)}</strong><table><thead><tr>"]
    lines += [f'<th style="text-align: left; {PAD}">{escape(x)}</th>' for x in head]
    lines.append("</tr></thead><tbody>")
    for row in islice(rows, MOST):
        lines.append("<tr>" + "".join(_cell(x) for x in row) + "</tr>")
    lines.append("</tbody></table>")
    if count > MOST:
        lines.append(f"<em>and {count - MOST} more</em>")
    return "".join([*lines, "</div>"])


def _cell(x) -> str:
    if isinstance(x, (int, float)):
        return f'<td style="text-align: right; {PAD}">{escape(f"{x:.6g}")}</td>'
    return f'<td style="text-align: left; {PAD}">{escape(str(x))}</td>'


def of_model(self) -> str:
    """A model: its bodies with their joints."""
    bodies = self.outward()

    def rows():
        for i in bodies:
            slots = self.v_slice[i]
            lower, upper = self.lower[slots], self.upper[slots]
            limits = f"{lower[0]:.4g} to {upper[0]:.4g}" if len(lower) == 1 and abs(lower[0]) < 1e300 else ""
            joint, parent = self.joints[i], self.body_names[self.parent[i]]
            yield self.body_names[i], parent, self.joint_name(i), joint.kind, joint.nv, self.I[i].m, limits

    extras = [f"{len(found)} {name}" for name in ("loops", "couplings", "contacts", "forces", "tendons", "actuators")
              if (found := getattr(self, name, ()))]  # fmt: skip
    title = f"Model {self.name}: {len(bodies)} moving bodies, nq = {self.nq}, nv = {self.nv}"
    head = ("body", "parent", "joint", "kind", "nv", "mass [kg]", "limits [rad or m]")
    return table(", ".join([title, *extras]), head, rows(), len(bodies))


def of_run(self) -> str:
    """A trajectory: the range of every position."""
    labels, units = self.coordinates.position_labels, self.coordinates.position_units
    rows = (
        (label, unit, float(x[0]), float(x[-1]), float(x.min()), float(x.max()))
        for label, unit, x in zip(labels, units, self.q.T, strict=True)
    )
    head = ("position", "unit", "start", "end", "least", "greatest")
    return table(repr(self), head, rows if len(self) else (), len(labels))


def of_function(self) -> str:
    """A compiled function: its arrays, and its operations if it has been traced."""
    arrays = [
        *(("input", name, shape) for name, shape in zip(self.input_names, self._shapes, strict=True)),
        *(("output", name, shape) for name, shape in zip(self.output_names, self._out_shapes, strict=True)),
    ]
    title = f"Function {self.name} of model {self.model.name}"
    for kernel in self._kernels.values():
        title += f", {kernel.program.operations.total} operations"
        break
    rows = ((kind, name, shape, self.spec.meaning(name).replace("``", "")) for kind, name, shape in arrays)
    return table(title, ("", "array", "shape", "meaning"), rows, len(arrays))
