"""Functions that make models out of models: submodels, attachments, locked joints, other roots, other names.

Every function takes frozen models and returns a new one, on which the same calls work; frames keep their names, and
``model.report`` lists all that was left out.
"""

from kinetree.surgery.bases import reroot, with_base
from kinetree.surgery.cutting import prune, submodel
from kinetree.surgery.equivalence import Simplification, augmented_bodies, base_parameter_count, simplify_inertias
from kinetree.surgery.expansion import expand_gears
from kinetree.surgery.joining import add_payload, attach
from kinetree.surgery.locking import lock, merge_fixed
from kinetree.surgery.naming import rename
from kinetree.surgery.states import StateMap
from kinetree.surgery.trees import retree

__all__ = [
    "Simplification", "StateMap", "add_payload", "attach", "augmented_bodies", "base_parameter_count", "expand_gears",
    "lock", "merge_fixed", "prune", "rename", "reroot", "retree", "simplify_inertias", "submodel", "with_base",
]  # fmt: skip
