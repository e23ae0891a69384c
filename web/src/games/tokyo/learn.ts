import type { Lesson } from "../lessons";
import TokyoPosition, { start, type Position } from "./TokyoPosition.svelte";

export const lesson: Lesson<Position> = {
  order: 2,
  games: [{ id: "tokyo", title: "Tokyo for two" }],
  start,
  Fields: TokyoPosition,
  position: (_, sheet) => sheet,
};
