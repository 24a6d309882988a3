"""Shapes, contact pairs and their laws."""
