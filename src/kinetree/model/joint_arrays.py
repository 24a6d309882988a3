"""The base of models: a tree, for type checkers with the arrays of joint forces, which its stub lists."""

from kinetree.model.tree import Tree as JointArrays

__all__ = ["JointArrays"]
