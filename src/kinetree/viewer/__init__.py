"""Pictures in space: shapes of a model and vectors of a run as triangles and arrows, and the viewer in a browser."""
