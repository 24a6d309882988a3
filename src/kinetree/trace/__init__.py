"""Expression graphs: recording of algorithms on symbols, simplification, differentiation, programs."""
