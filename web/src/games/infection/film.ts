import type { Look } from "../films";
import InfectionFilm from "./InfectionFilm.svelte";
import { moments } from "./moments";

export const film: Look = { games: ["infection"], Board: InfectionFilm, moments };
