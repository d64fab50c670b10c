"""Texas hold'em: length-prefixed JSON over TCP, one server, two to ten players a room."""
