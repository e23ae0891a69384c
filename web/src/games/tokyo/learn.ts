import type { Lesson } from "../lessons";
import TokyoExercise from "./TokyoExercise.svelte";
import TokyoPosition, { start, type Position } from "./TokyoPosition.svelte";

export const lesson: Lesson<Position> = {
  order: 2,
  games: [{ id: "tokyo", title: "Tokyo for two" }],
  start,
  Board: TokyoExercise,
  Fields: TokyoPosition,
  position: (_, sheet) => sheet,
};
