"""Packets that are made from bytes quickly.

Scapy sets some thirty attributes of every packet it dissects one by one, by way of a __setattr__ that
looks each up, and goes through the fields one by one. For frames of a few bytes that is most of the
time it takes. A Quick packet that is made of bytes alone is given the same attributes at once; one that
is built from fields, or in any other way, is made as Scapy makes it.
"""

from __future__ import annotations

import time
from typing import Any

from scapy.packet import NoPayload, Packet

NO_PAYLOAD = NoPayload()  # there is only one


class Quick(Packet):
    """The same as a Packet in every attribute, as a test sees to. Subclasses override dissect()."""

    def __init__(self, _pkt: bytes = b"", _internal: int = 0, _underlayer: Packet | None = None,
                 **more: Any) -> None:  # fmt: skip
        cls = type(self)
        defaults = Packet.class_default_fields.get(cls)
        plain = not more or (len(more) == 1 and more.get("stop_dissection_after", more) is None)
        if not (plain and _pkt and defaults and type(_pkt) is bytes):
            super().__init__(_pkt, _internal=_internal, _underlayer=_underlayer, **more)
            return
        put = object.__setattr__
        put(self, "time", 0.0 if _internal else time.time())
        put(self, "name", cls.__name__ if cls._name is None else cls._name)
        put(self, "default_fields", defaults)
        put(self, "fieldtype", Packet.class_fieldtype[cls])
        put(self, "packetfields", Packet.class_packetfields[cls])
        put(self, "overload_fields", cls._overload_fields)
        put(self, "overloaded_fields", {})
        put(self, "fields", {})
        put(self, "payload", NO_PAYLOAD)
        put(self, "underlayer", _underlayer)
        put(self, "parent", None)
        put(self, "original", _pkt)
        put(self, "explicit", 0)
        put(self, "raw_packet_cache", None)
        put(self, "raw_packet_cache_fields", None)
        put(self, "wirelen", None)
        put(self, "sent_time", None)
        put(self, "direction", None)
        put(self, "sniffed_on", None)
        put(self, "comments", None)
        put(self, "process_information", None)
        put(self, "stop_dissection_after", None)
        put(self, "post_transforms", [])
        self.dissect(_pkt)
        if not _internal:
            self.dissection_done(self)

    def take(self, fields: dict[str, Any], raw: bytes) -> None:
        """These fields, none of them a list, were read from those bytes."""
        put = object.__setattr__
        put(self, "fields", fields)
        put(self, "raw_packet_cache", raw)
        put(self, "raw_packet_cache_fields", {})
        put(self, "explicit", 1)
