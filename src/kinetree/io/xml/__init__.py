"""XML documents from unchecked files: a reader with positions, limits and exact numbers."""
