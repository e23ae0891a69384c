// How pieces look: every entry has a colour, a shape and a letter, so that nobody depends on one of them. Red is for zombies.
import { theme } from "../lib/theme.svelte";

/** Lightness, chroma and hue (OKLCH) in the dark, and the lightness by day. The first six are the seats of all games. */
const MORE: [number, number, number, number][] = [
  [0.76, 0.15, 55, 0.58],
  [0.97, 0.0, 0, 0.28],
  [0.64, 0.19, 258, 0.5],
  [0.62, 0.16, 148, 0.44],
  [0.68, 0.23, 330, 0.58],
  [0.73, 0.07, 75, 0.5],
  [0.62, 0.11, 200, 0.5],
  [0.6, 0.2, 292, 0.42],
  [0.92, 0.19, 118, 0.66],
  [0.88, 0.07, 225, 0.62],
  [0.64, 0.13, 100, 0.44],
  [0.9, 0.06, 340, 0.62],
  [0.66, 0.05, 250, 0.4],
  [0.9, 0.1, 165, 0.68],
];

export const COLOURS = 6 + MORE.length;

/** Corners of the shapes, in a square from -1 to 1; no corners for a disc. */
const SHAPES: [number, number][][] = [
  [],
  polygon(4, 1.12, 45),
  polygon(4, 1.08, 0),
  polygon(3, 1.12, -90, 0.14),
  polygon(6, 1.02, 0),
];

function polygon(corners: number, radius: number, turned: number, down = 0): [number, number][] {
  return Array.from({ length: corners }, (_, i) => {
    const angle = ((turned + (360 / corners) * i) * Math.PI) / 180;
    return [radius * Math.cos(angle), radius * Math.sin(angle) + down];
  });
}

export function shapeOf(seat: number): [number, number][] {
  return SHAPES[(seat + Math.floor(seat / COLOURS)) % SHAPES.length]!;
}

/** A, B, ... Z, AA, AB, ... */
export function letterOf(seat: number): string {
  const last = String.fromCharCode(65 + (seat % 26));
  return seat < 26 ? last : letterOf(Math.floor(seat / 26) - 1) + last;
}

export interface Palette {
  bg: string;
  surface: string;
  line: string;
  text: string;
  muted: string;
  info: string;
  shot: string;
  zombie: string;
  zombieDark: string;
  corpse: string;
  entries: string[];
  /** What is written on an entry's colour. */
  ink: string;
}

/** The colour of an entry in this theme. */
export function colourOf(seat: number): string {
  const place = seat % COLOURS;
  // Whoever draws with it draws anew in another theme.
  void theme.name;
  if (place < 6) return token(`--seat-${place}`);
  const [dark, chroma, hue, light] = MORE[place - 6]!;
  return theme.name === "dark"
    ? `oklch(${dark} ${chroma} ${hue})`
    : `oklch(${light} ${Math.min(chroma, 0.16)} ${hue})`;
}

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** All colours of a field. Depends on the theme. */
export function palette(seats: number): Palette {
  const dark = theme.name === "dark";
  return {
    bg: token("--bg"),
    surface: token("--surface"),
    line: token("--line"),
    text: token("--text"),
    muted: token("--muted"),
    info: token("--info"),
    shot: dark ? "#fff3b0" : "#7a4d00",
    zombie: dark ? "#d9453b" : "#c02a1f",
    zombieDark: dark ? "#3a0b07" : "#ffe9e6",
    corpse: dark ? "#6b756d" : "#8d978e",
    entries: Array.from({ length: seats }, (_, seat) => colourOf(seat)),
    ink: dark ? "#0c120d" : "#ffffff",
  };
}

/** Draws the outline of an entry's shape around a point. */
export function trace(ctx: CanvasRenderingContext2D, seat: number, x: number, y: number, radius: number) {
  const corners = shapeOf(seat);
  ctx.beginPath();
  if (corners.length === 0) ctx.arc(x, y, radius, 0, 2 * Math.PI);
  corners.forEach(([cx, cy], i) => {
    if (i === 0) ctx.moveTo(x + cx * radius, y + cy * radius);
    else ctx.lineTo(x + cx * radius, y + cy * radius);
  });
  ctx.closePath();
}
