"""Deformable bodies of nodes and elements: strands, cloths and solids, coupled with a model.

`strand`, `cloth`, `beam` and `solid` make a `Deformable`; `Coupled` joins deformables and an articulated model by
`Attachment` of nodes to frames, and simulates them as one system.
"""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
