// What people play at, and what stands for a game on the pages that list it. A game whose folder has no table.ts is played at the
// generic table. This is apart from the films because a replay in a file of its own needs none of it.
import type { Component } from "svelte";
import type { At } from "../play/table";
import GenericPicture from "./GenericPicture.svelte";
import GenericTable from "./GenericTable.svelte";
import { byGame } from "./parts";

/** The `table` of a game's table.ts. */
export interface Place {
  /** The ids of the games that are played at it. */
  games: string[];
  Table: Component<At>;
  Picture: Component<{ game: string }>;
  /** Whether the table needs most of the width. */
  wide?: boolean;
}

const places = byGame(import.meta.glob<Place>("./*/table.ts", { eager: true, import: "table" }));
const generic: Place = { games: [], Table: GenericTable, Picture: GenericPicture };

export const placeOf = (game: string): Place => places.get(game) ?? generic;
