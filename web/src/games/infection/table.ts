import type { Place } from "../tables";
import InfectionPicture from "./InfectionPicture.svelte";
import InfectionTable from "./InfectionTable.svelte";

export const table: Place = { games: ["infection"], Table: InfectionTable, Picture: InfectionPicture };
