"""XML documents from files that nobody has checked: a reader with positions, limits and exact numbers."""
