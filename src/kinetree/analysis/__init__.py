"""Analyses of a model: accuracy of its dynamics, closed positions, assembly branches, mobility, torques of motors."""
