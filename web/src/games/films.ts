// How films of the games look. A game whose folder has no film.ts is shown by the generic board, and its dice are plain boxes.
import type { Component } from "svelte";
import type { Film } from "../lib/schema";
import type { Moment } from "../replay/moments";
import { byGame } from "./parts";

/** What a film's board is given. */
export interface OnStage {
  film: Film;
  step: number;
  /** Whether a new roll is shown rolling. */
  rolling: boolean;
  /** Those who have won, at the last step. */
  winners: number[];
}

/** A die as the server words it. */
export interface DieWord {
  text: string;
  kept: boolean;
  size: number;
}

/** The `film` of a game's film.ts. */
export interface Look {
  /** The ids of the games that look like this. */
  games: string[];
  /** Draws a step. */
  Board: Component<OnStage>;
  /** Draws a die. */
  Die?: Component<DieWord>;
  /** The scores by seat in a scene, where a game has any that rise step by step. */
  scores?: (scene: unknown) => number[];
  /** What is worth a look in a match, besides what values and scores tell. */
  moments?: (film: Film) => Moment[];
  /** Which of the dice on the table an action keeps. */
  kept?: (action: unknown) => boolean[] | undefined;
}

const looks = byGame(import.meta.glob<Look>("./*/film.ts", { eager: true, import: "film" }));

export const lookOf = (game: string): Look | undefined => looks.get(game);
