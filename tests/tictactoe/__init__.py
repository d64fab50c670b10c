"""Tests of tic-tac-toe."""
