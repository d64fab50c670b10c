"""Who speaks: five protocols, one folder each, and the shells that put them on a wire."""

__version__ = "0.1.0"
