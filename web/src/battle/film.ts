// A battle as it is packed by the server (crates/server/src/film/last_bullet/stream.rs has the format), unpacked so that any turn
// can be shown at once: every so many turns all pieces are kept, and from there it is a few turns to any other.
// The exclamation marks are for places below `count`, which are all filled.
import type { BattleFilm } from "../lib/schema";

/** What a piece is: these two, or the seat of its entry plus two. */
export const ZOMBIE = 0;
export const CORPSE = 1;
export const seatOf = (who: number): number | undefined => (who > CORPSE ? who - 2 : undefined);

/** How far everybody sees, and how far a gun reaches. */
export const VISION = 8;
export const RANGE = 5;

const BULLETS = 3;
const KEYFRAME = 64;
/** Digits of a move in a word. */
const DIGITS = 5;

export interface Shot {
  from: number;
  /** Nobody had the number that was named. */
  to: number | undefined;
  hit: boolean;
}

/** All pieces in one turn. `who` and `bullets` are as they are now; the rest tells how it came from the turn before. */
export interface Moment {
  turn: number;
  count: number;
  x: Uint16Array;
  y: Uint16Array;
  who: Uint16Array;
  bullets: Uint32Array;
  /** The step that led here. */
  dx: Int8Array;
  dy: Int8Array;
  /** What it was before. For a piece that is new: a zombie. */
  was: Uint16Array;
  shots: Shot[];
  /** The piece that rose, and whether it was not there before. */
  risen: number | undefined;
  isNew: boolean;
}

export interface Census {
  /** By seat. */
  living: number[];
  zombies: number;
  corpses: number;
}

interface Keyframe {
  count: number;
  x: Uint16Array;
  y: Uint16Array;
  who: Uint16Array;
  bullets: Uint32Array;
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** A battle that can be wound to any turn. There is one moment, and `at` changes it. */
export class Reel {
  readonly side: number;
  readonly turns: number;
  readonly seats: number;
  readonly copies: number;
  private readonly bytes: Uint8Array;
  private at_ = 0;
  /** Where the record of each turn begins. */
  private readonly records: Uint32Array;
  /** All pieces before the records of turn 0, 64, 128... */
  private readonly keyframes: Keyframe[] = [];
  private readonly moment: Moment;

  constructor(film: BattleFilm) {
    this.side = film.side;
    this.turns = film.turns;
    this.seats = film.living.length;
    this.copies = film.copies;
    this.bytes = bytesOf(film.stream);
    this.records = new Uint32Array(film.turns + 1);
    const start = this.seats * this.copies;
    // At most one piece is new in a turn.
    const most = start + film.turns + 1;
    this.moment = {
      turn: -1,
      count: start,
      x: new Uint16Array(most),
      y: new Uint16Array(most),
      who: new Uint16Array(most),
      bullets: new Uint32Array(most),
      dx: new Int8Array(most),
      dy: new Int8Array(most),
      was: new Uint16Array(most),
      shots: [],
      risen: undefined,
      isNew: false,
    };
    for (let piece = 0; piece < start; piece++) {
      this.put(piece, this.varint(), 2 + Math.floor(piece / this.copies), BULLETS);
    }
    for (let turn = 0; turn <= film.turns; turn++) {
      if (turn % KEYFRAME === 0) this.keyframes.push(this.keep());
      this.records[turn] = this.at_;
      this.step();
    }
    if (this.at_ !== this.bytes.length) throw new Error("the film of the battle is damaged");
    this.at(0);
  }

  /** All pieces in this turn. What was given before changes with it. */
  at(turn: number): Moment {
    const wanted = Math.max(0, Math.min(this.turns, Math.round(turn)));
    const frame = Math.floor(wanted / KEYFRAME);
    if (wanted === this.moment.turn) return this.moment;
    if (wanted < this.moment.turn || frame * KEYFRAME > this.moment.turn + 1) {
      this.restore(this.keyframes[frame]!, frame * KEYFRAME - 1);
    }
    while (this.moment.turn < wanted) {
      this.at_ = this.records[this.moment.turn + 1]!;
      this.step();
    }
    return this.moment;
  }

  /** How many there are of each kind in a turn. */
  census(turn: number): Census {
    const { count, who } = this.at(turn);
    const census: Census = { living: Array<number>(this.seats).fill(0), zombies: 0, corpses: 0 };
    for (let piece = 0; piece < count; piece++) {
      const kind = who[piece]!;
      if (kind === ZOMBIE) census.zombies++;
      else if (kind === CORPSE) census.corpses++;
      else census.living[kind - 2]!++;
    }
    return census;
  }

  /** The entry of a copy, be it alive or not; none of a zombie that rose. */
  entryOf(piece: number): number | undefined {
    return piece < this.seats * this.copies ? Math.floor(piece / this.copies) : undefined;
  }

  /** The next living survivor in the order of the pieces, of one entry if it is given. */
  next(turn: number, from: number | undefined, by: 1 | -1, seat?: number): number | undefined {
    const { who } = this.at(turn);
    const all = this.seats * this.copies;
    const start = from !== undefined && from < all ? from : by > 0 ? -1 : all;
    for (let distance = 1; distance <= all; distance++) {
      const piece = (start + by * distance + 2 * all) % all;
      const of = seatOf(who[piece]!);
      if (of !== undefined && (seat === undefined || of === seat)) return piece;
    }
    return undefined;
  }

  private keep(): Keyframe {
    const { count, x, y, who, bullets } = this.moment;
    return {
      count,
      x: x.slice(0, count),
      y: y.slice(0, count),
      who: who.slice(0, count),
      bullets: bullets.slice(0, count),
    };
  }

  private restore(frame: Keyframe, turn: number) {
    this.moment.turn = turn;
    this.moment.count = frame.count;
    this.moment.x.set(frame.x);
    this.moment.y.set(frame.y);
    this.moment.who.set(frame.who);
    this.moment.bullets.set(frame.bullets);
  }

  private put(piece: number, square: number, who: number, bullets: number) {
    this.moment.x[piece] = square % this.side;
    this.moment.y[piece] = Math.floor(square / this.side);
    this.moment.who[piece] = who;
    this.moment.bullets[piece] = bullets;
  }

  private varint(): number {
    let number = 0;
    let weight = 1;
    for (;;) {
      const byte = this.bytes[this.at_++];
      if (byte === undefined) throw new Error("the film of the battle is cut off");
      number += (byte & 0x7f) * weight;
      if (byte < 0x80) return number;
      weight *= 128;
    }
  }

  /** Calls `visit` with every piece of a list. */
  private list(visit: (piece: number) => void) {
    let next = 0;
    for (let left = this.varint(); left > 0; left--) {
      const piece = next + this.varint();
      visit(piece);
      next = piece + 1;
    }
  }

  /** Applies the record of the next turn. */
  private step() {
    const moment = this.moment;
    moment.was.set(moment.who.subarray(0, moment.count));
    moment.shots = [];
    for (let left = this.varint(); left > 0; left--) {
      const from = this.varint();
      const code = this.varint();
      const to = Math.floor(code / 2) - 1;
      moment.shots.push({ from, to: to < 0 ? undefined : to, hit: code % 2 === 1 });
    }
    this.list((piece) => (moment.who[piece] = CORPSE));
    this.moves();
    const risen = this.varint() - 1;
    moment.risen = risen < 0 ? undefined : risen;
    moment.isNew = risen === moment.count;
    if (moment.isNew) {
      this.put(risen, this.varint(), ZOMBIE, 0);
      moment.was[risen] = ZOMBIE;
      moment.dx[risen] = moment.dy[risen] = 0;
      moment.count++;
    }
    if (risen >= 0) moment.who[risen] = ZOMBIE;
    this.list((piece) => (moment.who[piece] = ZOMBIE));
    const changed: number[] = [];
    this.list((piece) => changed.push(piece));
    for (const piece of changed) moment.bullets[piece] = this.varint();
    moment.turn++;
  }

  private moves() {
    const { count, x, y, who, dx, dy } = this.moment;
    const { bytes, side } = this;
    let word = 0;
    let digits = 0;
    for (let piece = 0; piece < count; piece++) {
      if (who[piece] === CORPSE) {
        dx[piece] = dy[piece] = 0;
        continue;
      }
      if (digits === 0) {
        word = bytes[this.at_]! | (bytes[this.at_ + 1]! << 8);
        this.at_ += 2;
        digits = DIGITS;
      }
      const digit = word % 9;
      word = (word - digit) / 9;
      digits--;
      const east = (digit % 3) - 1;
      const south = Math.floor(digit / 3) - 1;
      dx[piece] = east;
      dy[piece] = south;
      x[piece] = (x[piece]! + east + side) % side;
      y[piece] = (y[piece]! + south + side) % side;
    }
  }
}

/** How many of an entry live in a turn. */
export function livingAt(curve: [number, number][], turn: number): number {
  let low = 0;
  let high = curve.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve[middle]![0] <= turn) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : curve[low - 1]![1];
}

/** The distance on the torus, and the way there: the short way around. */
export function way(from: number, to: number, side: number): number {
  const straight = (to - from + side) % side;
  return straight > side / 2 ? straight - side : straight;
}
