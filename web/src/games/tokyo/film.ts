import type { Look } from "../films";
import { kept } from "./kept";
import TokyoFilm from "./TokyoFilm.svelte";
import TokyoWord from "./TokyoWord.svelte";

export const film: Look = { games: ["tokyo"], Board: TokyoFilm, Die: TokyoWord, kept };
