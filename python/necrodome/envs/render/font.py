"""Capital letters of five by seven dots: enough for names and numbers, without a font file."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

WIDTH, HEIGHT = 5, 7

# Seven rows of each sign, top first, as the five bits of two hexadecimal digits.
_ROWS = {
    " ": "00000000000000", "!": "04040404040004", '"': "0a0a0000000000", "#": "0a0a1f0a1f0a0a",
    "%": "18190204081303", "&": "0c12140815120d", "'": "04040000000000", "(": "02040808080402",
    ")": "08040202020408", "*": "000a041f040a00", "+": "0004041f040400", ",": "00000000040408",
    "-": "0000001f000000", ".": "0000000000000c", "/": "01010204081010", "0": "0e11131519110e",
    "1": "040c040404040e", "2": "0e11010204081f", "3": "1f02040201110e", "4": "02060a121f0202",
    "5": "1f101e0101110e", "6": "0608101e11110e", "7": "1f010204080808", "8": "0e11110e11110e",
    "9": "0e11110f01020c", ":": "00040000000400", ";": "00040000040408", "<": "02040810080402",
    "=": "00001f001f0000", ">": "08040201020408", "?": "0e110102040004", "A": "0e11111f111111",
    "B": "1e11111e11111e", "C": "0e11101010110e", "D": "1c12111111121c", "E": "1f10101e10101f",
    "F": "1f10101e101010", "G": "0e11101711110f", "H": "1111111f111111", "I": "0e04040404040e",
    "J": "0702020202120c", "K": "11121418141211", "L": "1010101010101f", "M": "111b1515111111",
    "N": "11191513111111", "O": "0e11111111110e", "P": "1e11111e101010", "Q": "0e11111115120d",
    "R": "1e11111e141211", "S": "0f10100e01011e", "T": "1f040404040404", "U": "1111111111110e",
    "V": "111111110a0a04", "W": "11111115151b11", "X": "11110a040a1111", "Y": "11110a04040404",
    "Z": "1f01020408101f", "[": "0e08080808080e", "]": "0e02020202020e", "_": "0000000000001f",
}  # fmt: skip
_UNKNOWN = "1f11111111111f"


@functools.cache
def glyph(sign: str) -> npt.NDArray[np.bool_]:
    """The dots of a sign: an empty box for one that the font does not have."""
    rows = bytes.fromhex(_ROWS.get(sign.upper(), _UNKNOWN))
    return np.array([[row >> bit & 1 for bit in range(WIDTH - 1, -1, -1)] for row in rows], dtype=np.bool_)
