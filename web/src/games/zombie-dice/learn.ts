import type { Lesson } from "../lessons";
import ZombieExercise from "./ZombieExercise.svelte";
import ZombiePosition, { start, type Sheet } from "./ZombiePosition.svelte";
import ZombieStrategy from "./ZombieStrategy.svelte";

export const lesson: Lesson<Sheet> = {
  order: 1,
  games: [
    { id: "zombie-dice-solo", title: "Zombie Dice, solo" },
    { id: "zombie-dice-race", title: "Zombie Dice, race" },
    { id: "zombie-dice", title: "Zombie Dice for two" },
  ],
  start,
  Board: ZombieExercise,
  Fields: ZombiePosition,
  position(game, { dice, score, other, second }) {
    switch (game) {
      case "zombie-dice-race":
        return { game, dice, score, other };
      case "zombie-dice":
        return { game, dice, score, other, second };
      default:
        return { game: "zombie-dice-solo", dice };
    }
  },
  Strategy: ZombieStrategy,
};
