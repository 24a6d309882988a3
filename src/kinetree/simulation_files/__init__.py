"""Simulation files: models, forces, contacts, controllers and outputs of runs as YAML, checked by one schema."""
