"""Who speaks: five protocols, one folder each, and the shells that put them on a wire."""
