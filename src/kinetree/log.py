"""The logger "kinetree" of the standard library's `logging`: compilation, the cache on disk, files that are loaded.

Silent until a program configures it: ``logging.basicConfig(level=logging.INFO)`` shows compilations and loaded models,
``logging.DEBUG`` the cache, too.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("kinetree")
LOG.addHandler(logging.NullHandler())  # a library leaves handlers to programs
