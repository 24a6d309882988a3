"""Recording of algorithms on symbols: expression graphs, their simplification, differentiation and programs."""
