"""WebSocket (RFC 6455, RFC 7692)."""

from __future__ import annotations

from dissectors.observer import Binary, Broken, Event, Frame, Observer, Opcode, Text, Upgrade

__all__ = ["Binary", "Broken", "Event", "Frame", "Observer", "Opcode", "Text", "Upgrade"]
