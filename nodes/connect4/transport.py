"""How messages travel: one message a WebSocket text, ended by CRLF.

The WebSocket itself (frames, masks, pings, close codes) is the shell's. A core is given one
text as UTF-8 bytes and gives one back.
"""

from __future__ import annotations

from nodes.core import RemoteProtocolError

LINE_MAX = 128  # bytes, line end included; the longest message of the text is 75 and an info of any use
CRLF = b"\r\n"


def frame(line: str) -> bytes:
    """ "messages textes (terminant par "\\r\\n")"."""
    return line.encode() + CRLF


def unframe(data: bytes) -> str:
    """The line without its end. Raises RemoteProtocolError on what cannot be a line at all.

    protocols.md: "one message a text frame, CRLF appended (optional on input)". A bare LF, and
    spaces before it, are taken too: the example implementation the text links to writes " \\n".
    """
    if len(data) > LINE_MAX:
        raise RemoteProtocolError("connect4/line", f"{len(data)} bytes; a line has at most {LINE_MAX}")
    if data.endswith(CRLF):
        data = data[:-2]
    elif data.endswith(b"\n"):
        data = data[:-1].rstrip(b" ")
    # Every rule of the ABNF is made of printable ASCII; a CR or LF inside would be a second line.
    if not data.isascii() or not data.decode("ascii").isprintable():
        raise RemoteProtocolError("connect4/line", "a line is printable ASCII, and one text holds one line")
    return data.decode("ascii")
