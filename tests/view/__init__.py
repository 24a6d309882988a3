"""Pictures in space and the viewer."""
