import type { Look } from "../films";
import InfectionFilm from "./InfectionFilm.svelte";

export const film: Look = { games: ["infection"], Board: InfectionFilm };
