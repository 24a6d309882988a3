"""A quadruped drops to the ground: docs/quadruped.gif, with the contact forces as arrows.

Run ``python examples/figures/first_motion.py docs``; playwright and a Chromium draw the pictures.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

DROP = runpy.run_path(str(Path(__file__).parents[1] / "37_quadruped_on_the_ground.py"))["drop"]

if __name__ == "__main__":
    DROP(1.5).save(Path(sys.argv[1]) / "quadruped.gif", fps=15, size=(480, 300))
