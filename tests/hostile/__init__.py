"""Attacks on real node processes over loopback sockets, while an innocent game goes on."""
