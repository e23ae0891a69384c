// How films of the games look. A game that is not listed here is shown by the generic board, and its dice are plain boxes.
import type { Component } from "svelte";
import type { Film } from "../lib/schema";
import InfectionFilm from "./infection/InfectionFilm.svelte";
import { kept } from "./tokyo/kept";
import TokyoFilm from "./tokyo/TokyoFilm.svelte";
import TokyoWord from "./tokyo/TokyoWord.svelte";
import ZombieFilm from "./zombie-dice/ZombieFilm.svelte";
import ZombieWord from "./zombie-dice/ZombieWord.svelte";

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

interface Look {
  /** Draws a step. */
  Board: Component<OnStage>;
  /** Draws a die. */
  Die?: Component<DieWord>;
  /** Which of the dice on the table an action keeps. */
  kept?: (action: unknown) => boolean[] | undefined;
}

const zombieDice: Look = { Board: ZombieFilm, Die: ZombieWord };
const looks: Record<string, Look> = {
  "zombie-dice": zombieDice,
  "zombie-dice-solo": zombieDice,
  "zombie-dice-race": zombieDice,
  infection: { Board: InfectionFilm },
  tokyo: { Board: TokyoFilm, Die: TokyoWord, kept },
};

export const lookOf = (game: string): Look | undefined => looks[game];
