"""The codes of lint's findings, by level. docs/lint.md explains each of them.

A code is the same in all releases; new ones may come.
"""

from __future__ import annotations

_BY_LEVEL = {
    "error": (
        "unreadable", "not-a-file", "too-large", "empty-file", "not-xml", "encoding", "malformed-xml", "nesting",
        "entities", "wrong-root", "xacro", "format", "missing-element", "missing-attribute", "empty-attribute",
        "empty-element", "repeated-element", "bad-number", "not-in-format", "bad-boolean", "bad-choice",
        "bad-quaternion", "bad-name", "reserved-name", "version", "bad-geometry", "misspelled", "unsupported",
        "no-links", "auto-inertia", "negative-mass", "inertia-without-mass", "impossible-inertia", "massless-leaf",
        "duplicate-name", "unknown-link", "unknown-name", "self-joint", "bad-child", "parallel-axes", "bad-frame",
        "pose-cycle", "frame-cycle", "unknown-joint-type", "zero-axis", "two-parents", "disconnected", "cycle",
        "world-carried", "floating-base", "floating-world", "limit-order", "negative-limit", "negative-dissipation",
        "mimic-cycle", "mimic-unknown", "mimic-of-fixed", "mimic-unsupported", "no-model", "several-models",
        "include-not-found", "include-cycle", "not-a-model", "file-not-found", "mujoco", "time-limit", "memory-limit",
        "crash", "missing-dependency", "loop-file", "model",
    ),
    "warning": (
        "gravity-off", "other-program", "missing-inertial", "placeholder-inertia", "large-inertia", "small-inertia",
        "com-outside", "huge-mass", "mass-ratio", "missing-limit", "zero-effort", "zero-velocity", "equal-limits",
        "wide-limit", "far-offset", "rounded-angle", "radians", "similar-names", "mesh-missing", "mesh-scale",
    ),
    "info": (
        "xml-version", "not-computed", "ignored", "assumption", "unnamed-robot", "loop", "free-link", "idle-joint",
        "mimic-idle", "missing-effort", "open-loop", "idle-limit", "axis-length", "idle-dynamics", "truncated-angle",
        "mesh-found", "mesh-unread", "empty-shape", "color-range", "unused-material", "unfinished",
    ),
}  # fmt: skip
LEVELS = tuple(_BY_LEVEL)
CODES = {code: level for level, codes in _BY_LEVEL.items() for code in codes}
