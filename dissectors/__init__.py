"""What the bytes are called: Scapy layers for the five protocols."""
