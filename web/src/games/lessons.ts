// What can be learnt about the games that are solved: each has a learn.ts in its folder.
import type { Component } from "svelte";
import type { AdviseOn } from "../lib/schema";

/** The id of a solved game. */
export type Solved = AdviseOn["game"];

/** A position to decide on. */
export interface OnDesk {
  view: unknown;
  seat: number;
  names: string[];
}

/** The `lesson` of a game's learn.ts. A sheet is what the player fills in at the calculator; its games share it. */
export interface Lesson<Sheet> {
  /** Lessons with lower numbers come first. */
  order: number;
  /** The games, in the order in which they are offered. */
  games: { id: Solved; title: string }[];
  /** What is filled in at first. */
  start: Sheet;
  /** The fields of the sheet. */
  Fields: Component<{ game: Solved; sheet: Sheet; onchange: (sheet: Sheet) => void }>;
  /** The position on the sheet, as the server is asked about it. */
  position: (game: Solved, sheet: Sheet) => AdviseOn;
  /** Draws a position to decide on. */
  Board: Component<OnDesk>;
  /** The strategy as a picture. What is picked there is shown in the calculator. */
  Strategy?: Component<{ onpick: (game: Solved, sheet: Sheet) => void }>;
}

/** All lessons. What is on a sheet is known to its own lesson only. */
export const lessons = Object.values(
  import.meta.glob<Lesson<unknown>>("./*/learn.ts", { eager: true, import: "lesson" }),
).sort((a, b) => a.order - b.order);

export const boardOf = (game: string) =>
  lessons.find((lesson) => lesson.games.some(({ id }) => id === game))?.Board;
