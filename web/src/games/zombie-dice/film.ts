import type { Look } from "../films";
import type { RaceViewScene, SoloViewScene, TableViewScene } from "../../lib/schema";
import { games } from "./games";
import ZombieFilm from "./ZombieFilm.svelte";
import ZombieWord from "./ZombieWord.svelte";

function scores(scene: unknown): number[] {
  const { view } = scene as SoloViewScene | RaceViewScene | TableViewScene;
  if ("scores" in view) return view.scores;
  return "score" in view ? [view.score, view.opponent_score] : [];
}

export const film: Look = { games, Board: ZombieFilm, Die: ZombieWord, scores };
