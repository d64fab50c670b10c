"""Briscola over SBGP: one 16-bit word a datagram, a server and two players a game."""
