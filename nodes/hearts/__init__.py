"""Hearts ("Copas"): four machines on a UDP ring, one token."""
