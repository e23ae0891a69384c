// What a person can do with one survivor, from what its view tells.
import type { CopyView, Direction, LastBulletView, Order, Seen } from "../lib/schema";
import { CORPSE, RANGE, ZOMBIE } from "./film";
import { count } from "../lib/words";

/** The game's action: a copy without an order stays. */
export interface Orders {
  orders: Order[];
}

/** From north to south and from west to east. */
export const DIRECTIONS: Direction[] = [
  "northwest",
  "north",
  "northeast",
  "west",
  "stay",
  "east",
  "southwest",
  "south",
  "southeast",
];

/** Where a direction leads. */
export function offset(direction: Direction): [number, number] {
  const place = DIRECTIONS.indexOf(direction);
  return [(place % 3) - 1, Math.floor(place / 3) - 1];
}

/**
 * The keys for a direction: arrows, digits as on a number pad (which has other names without its lock), those of the terminal, or
 * the letters around s.
 */
export const KEYS: Record<Direction, string[]> = {
  northwest: ["7", "Numpad7", "y", "q"],
  north: ["8", "ArrowUp", "k", "w"],
  northeast: ["9", "Numpad9", "u", "e"],
  west: ["4", "ArrowLeft", "h", "a"],
  stay: ["5", "Numpad5", ".", "s", " "],
  east: ["6", "ArrowRight", "l", "d"],
  southwest: ["1", "Numpad1", "b", "z"],
  south: ["2", "ArrowDown", "j", "x"],
  southeast: ["3", "Numpad3", "n", "c"],
};

/** A zombie walks one square and bites whoever is next to it then. */
export const BITE = 2;

export function toward(dx: number, dy: number): Direction {
  return DIRECTIONS[(Math.sign(dy) + 1) * 3 + Math.sign(dx) + 1] ?? "stay";
}

export const distance = ([dx, dy]: Seen): number => Math.max(Math.abs(dx), Math.abs(dy));

/** Whom a gun can hit and is worth a bullet: zombies, then others, then one's own; of each the nearest first. */
export function targets(view: LastBulletView, copy: CopyView): Seen[] {
  const rank = (seen: Seen) => (seen[2] === view.me ? 2 : seen[2] === ZOMBIE ? 0 : 1);
  return copy.seen
    .filter((seen) => seen[2] !== CORPSE && distance(seen) <= RANGE)
    .sort((a, b) => rank(a) - rank(b) || distance(a) - distance(b));
}

/** Whoever was bitten may have walked one square, too. */
const LUNGE = BITE + 1;

/**
 * Those who can have done it, as the words of the loss tell: all shots come from where everybody stood when they decided, and a
 * zombie that bites was near.
 */
export function suspects(view: LastBulletView, copy: CopyView, how: string): Seen[] {
  if (how.includes("bullet"))
    return targets(view, copy).filter(([, , who]) => who !== ZOMBIE && who !== view.me);
  if (!how.includes("bite")) return [];
  return copy.seen.filter((seen) => seen[2] === ZOMBIE && distance(seen) <= LUNGE);
}

/** Who it is and where: `Zombie, 3 to the northeast`. */
export function whereabouts(view: LastBulletView, seen: Seen): string {
  const [dx, dy, who] = seen;
  const name = who === view.me ? "your own" : (view.names[who] ?? "?");
  return `${name}, ${distance(seen)} to the ${toward(dx, dy)}`;
}

/** A step that can be taken. */
export interface Step {
  direction: Direction;
  dx: number;
  dy: number;
  label: string;
  /** Whether somebody stands there who can be shot instead. */
  isTarget: boolean;
}

export function stepsOf(view: LastBulletView, copy: CopyView, canShoot: boolean): Step[] {
  return DIRECTIONS.map((direction) => {
    const [dx, dy] = offset(direction);
    const there = copy.seen.find((seen) => seen[0] === dx && seen[1] === dy);
    const isTarget = there !== undefined && there[2] !== CORPSE && there[2] !== view.me && canShoot;
    const who = there ? `, where ${view.names[there[2]]} stands` : "";
    const label = direction === "stay" ? "Stay" : `Step ${direction}${who}`;
    return { direction, dx, dy, label, isTarget };
  });
}

/** What somebody who only listens needs to know. */
export function situation(view: LastBulletView, copy: CopyView): string {
  const zombies = copy.seen.filter((seen) => seen[2] === ZOMBIE).sort((a, b) => distance(a) - distance(b));
  const nearest = zombies[0];
  const threat = nearest
    ? `${count(zombies.length, "zombie")} in sight, the nearest ${distance(nearest)} to the ${toward(nearest[0], nearest[1])}`
    : "No zombie in sight";
  const spare = count(view.copies.length - 1, "spare survivor");
  return `Clock ${view.clock}. ${threat}. ${count(copy.bullets, "bullet")}, ${spare}.`;
}

/**
 * What the page adds to what the rules tell, once an order was carried out: whom the keys steer now, and that a step was not taken,
 * for which there is no event.
 */
export function newsBetween(before: LastBulletView, now: LastBulletView, order: Order): string[] {
  const [was, is] = [before, now].map((view) => view.copies.find((copy) => copy.number === order.copy));
  if (!was) return [];
  if (!is) return ["You go on with another survivor."];
  const stayed = was.x === is.x && was.y === is.y;
  return stayed && order.type === "move" && order.direction !== "stay"
    ? ["Somebody wanted the same square: you stayed."]
    : [];
}
