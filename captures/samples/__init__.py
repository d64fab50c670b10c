"""Small real captures of all five games, and what made them."""
