"""Actuators: laws from controls to forces, and the lengths along which the forces act."""
