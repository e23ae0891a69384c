import type { Place } from "../tables";
import { games } from "./games";
import ZombiePicture from "./ZombiePicture.svelte";
import ZombieTable from "./ZombieTable.svelte";

export const table: Place = { games, Table: ZombieTable, Picture: ZombiePicture };
