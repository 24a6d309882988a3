"""Compiled functions for other systems: C99, CUDA, JAX and PyTorch."""

from kinetree.export.c_source import CSource, to_c
from kinetree.export.cuda import CudaFunction, cuda_source, to_cuda
from kinetree.export.jax import JaxFunction, to_jax
from kinetree.export.torch import TorchFunction, to_torch

__all__ = [
    "CSource",
    "CudaFunction",
    "JaxFunction",
    "TorchFunction",
    "cuda_source",
    "to_c",
    "to_cuda",
    "to_jax",
    "to_torch",
]
