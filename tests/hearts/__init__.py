"""Hearts: bytes, ring, rules, node, bots, a person."""
