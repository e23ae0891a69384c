import type { Place } from "../tables";
import TokyoPicture from "./TokyoPicture.svelte";
import TokyoTable from "./TokyoTable.svelte";

export const table: Place = { games: ["tokyo"], Table: TokyoTable, Picture: TokyoPicture };
