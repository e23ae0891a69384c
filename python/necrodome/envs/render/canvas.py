"""A canvas of numpy with smooth shapes: dice and boards need no drawing library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import font

Colour = tuple[int, int, int]
Image = npt.NDArray[np.uint8]

INK: Colour = (24, 28, 33)
PANEL: Colour = (36, 42, 49)
LINE: Colour = (70, 79, 90)
PALE: Colour = (150, 160, 170)
PAPER: Colour = (236, 232, 222)
LIGHT: Colour = (255, 214, 102)

# As many entries as can be told apart; further ones begin again.
ENTRIES: tuple[Colour, ...] = (
    (86, 180, 233),
    (230, 159, 0),
    (204, 121, 167),
    (240, 228, 66),
    (213, 94, 0),
    (148, 133, 232),
    (245, 245, 245),
    (0, 158, 155),
)

# Polygons are drawn on a grid so much finer, then averaged.
_FINE = 4


class Canvas:
    """A picture to draw on. Places are in pixels, x to the right and y down; edges are smooth."""

    def __init__(self, width: int, height: int, colour: Colour = INK) -> None:
        self.width, self.height = width, height
        self._pixels = np.empty((height, width, 3), dtype=np.float32)
        self._pixels[:] = colour

    def image(self) -> Image:
        """The picture."""
        return np.clip(np.rint(self._pixels), 0, 255).astype(np.uint8)

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: Colour, radius: float = 0
    ) -> None:
        """A filled rectangle, its corners rounded."""
        half_width, half_height = width / 2, height / 2

        def outside(dx: npt.NDArray[np.float32], dy: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            over_x = np.abs(dx) - (half_width - radius)
            over_y = np.abs(dy) - (half_height - radius)
            corner = np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0))
            inside = np.minimum(np.maximum(over_x, over_y), 0)
            return np.asarray(corner + inside - radius, dtype=np.float32)

        box = self._box(x, y, x + width, y + height)
        dx, dy = self._grid(box, x + half_width, y + half_height)
        self._blend(box, np.clip(0.5 - outside(dx, dy), 0, 1), colour)

    def frame(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        colour: Colour,
        radius: float = 0,
        line: float = 2,
    ) -> None:
        """Draws the edge of a rectangle, `line` pixels wide, and fills the inside with the colour beside it."""
        ground = self._at(x - 1, y - 1)
        self.rectangle(x, y, width, height, colour, radius)
        inner = max(radius - line, 0)
        self.rectangle(x + line, y + line, width - 2 * line, height - 2 * line, ground, inner)

    def ellipse(self, x: float, y: float, across: float, down: float, colour: Colour) -> None:
        """A filled ellipse around a middle, by its two radii."""
        box = self._box(x - across, y - down, x + across, y + down)
        dx, dy = self._grid(box, x, y)
        distance = (np.hypot(dx / across, dy / down) - 1) * min(across, down)
        self._blend(box, np.clip(0.5 - distance, 0, 1), colour)

    def circle(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self.ellipse(x, y, radius, radius, colour)

    def line(self, x: float, y: float, to_x: float, to_y: float, colour: Colour, width: float = 2) -> None:
        """A line with round ends."""
        reach = width / 2
        box = self._box(
            min(x, to_x) - reach, min(y, to_y) - reach, max(x, to_x) + reach, max(y, to_y) + reach
        )
        dx, dy = self._grid(box, x, y)
        along_x, along_y = to_x - x, to_y - y
        length = along_x * along_x + along_y * along_y or 1.0
        part = np.clip((dx * along_x + dy * along_y) / length, 0, 1)
        distance = np.hypot(dx - part * along_x, dy - part * along_y) - reach
        self._blend(box, np.clip(0.5 - distance, 0, 1), colour)

    def polygon(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """A filled polygon."""
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, top, right, bottom = box = self._box(min(xs), min(ys), max(xs), max(ys))
        fine_x = left + (np.arange((right - left) * _FINE) + 0.5) / _FINE
        fine_y = (top + (np.arange((bottom - top) * _FINE) + 0.5) / _FINE)[:, None]
        inside = np.zeros((fine_y.size, fine_x.size), dtype=np.bool_)
        for (x, y), (to_x, to_y) in zip(points, [*points[1:], points[0]]):
            if y == to_y:
                continue
            crosses = (fine_y < y) != (fine_y < to_y)
            inside ^= crosses & (fine_x < x + (fine_y - y) / (to_y - y) * (to_x - x))
        shape = (bottom - top, _FINE, right - left, _FINE)
        self._blend(box, inside.reshape(shape).mean(axis=(1, 3)).astype(np.float32), colour)

    def text(
        self, x: float, y: float, words: str, colour: Colour = PAPER, scale: int = 2, align: float = 0
    ) -> None:
        """Writes a text below `y` that begins at `x` (`align` 0), has its middle there (0.5) or ends there (1)."""
        left, top = round(x - align * text_width(words, scale)), round(y)
        for place, sign in enumerate(words):
            dots = np.kron(font.glyph(sign), np.ones((scale, scale), dtype=np.bool_))
            at = left + place * (font.WIDTH + 1) * scale
            if at < 0 or top < 0:
                continue
            part = self._pixels[top : top + dots.shape[0], at : at + dots.shape[1]]
            part[dots[: part.shape[0], : part.shape[1]]] = colour

    def squares(self, x: int, y: int, colours: npt.NDArray[np.uint8], size: int) -> None:
        """A board of colours, (rows, columns, 3), each square `size` pixels wide."""
        large = np.repeat(np.repeat(colours, size, axis=0), size, axis=1)
        self._pixels[y : y + large.shape[0], x : x + large.shape[1]] = large

    def _at(self, x: float, y: float) -> Colour:
        red, green, blue = self._pixels[
            min(max(int(y), 0), self.height - 1), min(max(int(x), 0), self.width - 1)
        ]
        return int(red), int(green), int(blue)

    def _box(self, left: float, top: float, right: float, bottom: float) -> tuple[int, int, int, int]:
        """The pixels that a shape may touch."""
        return (
            min(max(int(left) - 1, 0), self.width),
            min(max(int(top) - 1, 0), self.height),
            min(max(int(right) + 2, 0), self.width),
            min(max(int(bottom) + 2, 0), self.height),
        )

    @staticmethod
    def _grid(
        box: tuple[int, int, int, int], x: float, y: float
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The distances of the pixels' middles from a place."""
        left, top, right, bottom = box
        dx = np.arange(left, right, dtype=np.float32) + np.float32(0.5 - x)
        dy = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5 - y)
        return dx, dy

    def _blend(self, box: tuple[int, int, int, int], cover: npt.NDArray[np.float32], colour: Colour) -> None:
        left, top, right, bottom = box
        part = self._pixels[top:bottom, left:right]
        part += cover[..., None] * (np.array(colour, dtype=np.float32) - part)


def text_width(words: str, scale: int = 2) -> int:
    """The width of a text."""
    return max(len(words) * (font.WIDTH + 1) - 1, 0) * scale


def shorten(words: str, width: int, scale: int = 2) -> str:
    """Cuts a text to the width that fits."""
    fits = max((width + scale) // ((font.WIDTH + 1) * scale), 1)
    return words if len(words) <= fits else words[: fits - 1] + "."
