"""Pixels -> a PNG that can stand inside an SVG, so that a map of thousands of numbers stays a small file."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def png_link(pixels: NDArray[np.uint8]) -> str:
    """Red, green, blue and opacity (height, width, 4) as a data link."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 4 * width), dtype=np.uint8)  # each row begins with its filter, 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    image = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, data) for name, data in parts)
    return "data:image/png;base64," + base64.b64encode(image).decode("ascii")


def chunk(name: bytes, data: bytes) -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
