"""Tic-tac-toe ("Bom Velhinho"): one TCP connection a game, exactly 12 ASCII bytes each way."""
