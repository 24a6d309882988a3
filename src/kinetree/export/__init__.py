"""Export of compiled functions to C99, CasADi, CUDA, JAX and PyTorch."""

from kinetree.export.c_source import to_c
from kinetree.export.casadi import to_casadi
from kinetree.export.cuda import cuda_source, to_cuda
from kinetree.export.jax import to_jax
from kinetree.export.torch import to_torch

__all__ = ["cuda_source", "to_c", "to_casadi", "to_cuda", "to_jax", "to_torch"]
