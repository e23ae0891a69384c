import type { Look } from "../films";
import { games } from "./games";
import ZombieFilm from "./ZombieFilm.svelte";
import ZombieWord from "./ZombieWord.svelte";

export const film: Look = { games, Board: ZombieFilm, Die: ZombieWord };
