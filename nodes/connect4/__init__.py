"""Connect Four ("Puissance 4"): text messages over WebSocket, one server, many clients."""
