import type { Place } from "../tables";
import LastBulletPicture from "./LastBulletPicture.svelte";
import LastBulletTable from "./LastBulletTable.svelte";

export const table: Place = {
  games: ["last-bullet"],
  Table: LastBulletTable,
  Picture: LastBulletPicture,
  wide: true,
};
