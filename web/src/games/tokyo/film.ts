import type { Look } from "../films";
import type { TokyoView } from "../../lib/schema";
import { kept } from "./kept";
import TokyoFilm from "./TokyoFilm.svelte";
import TokyoWord from "./TokyoWord.svelte";

const scores = (scene: unknown) => (scene as TokyoView).monsters.map((monster) => monster.points);

export const film: Look = { games: ["tokyo"], Board: TokyoFilm, Die: TokyoWord, kept, scores };
