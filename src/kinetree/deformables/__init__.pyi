# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.deformables.attachment import Attachment as Attachment
from kinetree.deformables.coupled import Coupled as Coupled
from kinetree.deformables.run import CoupledRun as CoupledRun
from kinetree.deformables.body import Deformable as Deformable
from kinetree.deformables.gradient import DeformableGradient as DeformableGradient
from kinetree.deformables.contract import ElementLaw as ElementLaw
from kinetree.deformables.body import Elements as Elements
from kinetree.deformables.material import Material as Material
from kinetree.deformables.tetrahedral_mesh import TetrahedralMesh as TetrahedralMesh
from kinetree.deformables.shapes import beam as beam
from kinetree.deformables.shapes import beam_mesh as beam_mesh
from kinetree.deformables.shapes import cloth as cloth
from kinetree.deformables.triangle_cloth import cloth_of_triangles as cloth_of_triangles
from kinetree.deformables.run import load_run as load_run
from kinetree.deformables.tetrahedral_mesh import read_mesh as read_mesh
from kinetree.deformables.shapes import solid as solid
from kinetree.deformables.shapes import spring_network as spring_network
from kinetree.deformables.shapes import strand as strand

__all__ = [
    "Attachment",
    "Coupled",
    "CoupledRun",
    "Deformable",
    "DeformableGradient",
    "ElementLaw",
    "Elements",
    "Material",
    "TetrahedralMesh",
    "beam",
    "beam_mesh",
    "cloth",
    "cloth_of_triangles",
    "load_run",
    "read_mesh",
    "solid",
    "spring_network",
    "strand",
]
