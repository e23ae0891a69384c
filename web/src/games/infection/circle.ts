// Players of Infection on a circle, and the lines between them.

export interface Contact {
  a: number;
  b: number;
  /** The turn, from 0. */
  turn: number;
  /** Who became infected by it. */
  victim?: number | undefined;
}

export interface Circle {
  /** The middle. */
  x: number;
  y: number;
  radius: number;
  players: number;
  /** The radius of a player. */
  dot: number;
}

/** Where a seat is; `far` from the middle. */
export function place({ x, y, radius, players }: Circle, seat: number, far = radius) {
  const angle = (seat / Math.max(1, players)) * 2 * Math.PI - Math.PI / 2;
  return { x: x + far * Math.cos(angle), y: y + far * Math.sin(angle), angle };
}

/** From one dot to another, bent towards the middle, ending where the dot begins. */
export function arc(circle: Circle, from: number, to: number): string {
  const a = place(circle, from);
  const b = place(circle, to);
  const bend = {
    x: (a.x + b.x) / 2 + (circle.x - (a.x + b.x) / 2) * 0.35,
    y: (a.y + b.y) / 2 + (circle.y - (a.y + b.y) / 2) * 0.35,
  };
  const length = Math.hypot(b.x - bend.x, b.y - bend.y) || 1;
  const gap = circle.dot + 7;
  const end = { x: b.x + ((bend.x - b.x) / length) * gap, y: b.y + ((bend.y - b.y) / length) * gap };
  const points = [a, bend, end].map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${points[0]}Q${points[1]} ${points[2]}`;
}
