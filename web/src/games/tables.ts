// What people play at, and what stands for a game on the pages that list it. A game that is not listed here is played at the
// generic table. This is apart from the films because a replay in a file of its own needs none of it.
import type { Component } from "svelte";
import type { At } from "../play/table";
import GenericPicture from "./GenericPicture.svelte";
import GenericTable from "./GenericTable.svelte";
import InfectionPicture from "./infection/InfectionPicture.svelte";
import InfectionTable from "./infection/InfectionTable.svelte";
import LastBulletPicture from "./last-bullet/LastBulletPicture.svelte";
import LastBulletTable from "./last-bullet/LastBulletTable.svelte";
import TokyoPicture from "./tokyo/TokyoPicture.svelte";
import TokyoTable from "./tokyo/TokyoTable.svelte";
import ZombiePicture from "./zombie-dice/ZombiePicture.svelte";
import ZombieTable from "./zombie-dice/ZombieTable.svelte";

interface Place {
  Table: Component<At>;
  Picture: Component<{ game: string }>;
  /** Whether the table needs most of the width. */
  wide?: boolean;
}

const zombieDice: Place = { Table: ZombieTable, Picture: ZombiePicture };
const places: Record<string, Place> = {
  "zombie-dice": zombieDice,
  "zombie-dice-solo": zombieDice,
  "zombie-dice-race": zombieDice,
  "last-bullet": { Table: LastBulletTable, Picture: LastBulletPicture, wide: true },
  infection: { Table: InfectionTable, Picture: InfectionPicture },
  tokyo: { Table: TokyoTable, Picture: TokyoPicture },
};
const generic: Place = { Table: GenericTable, Picture: GenericPicture };

export const placeOf = (game: string): Place => places[game] ?? generic;
