// What the parts of a table share: what a game's own part is given, what happened, and who the player is.
import { post, RefusedError } from "../lib/api";
import type { Beat, NewTable, Scene, TableState, Told } from "../lib/schema";

/** What a game's part of the page is given. */
export interface At {
  table: TableState;
  scene: Scene;
  names: string[];
  /** Whether an answer is wanted, and none is on its way. */
  asked: boolean;
  act: (action: unknown) => void;
  /** What is being shown of what has happened: then `scene` is as it looked right after it. */
  beat?: Beat | undefined;
}

export function namesOf(table: TableState): string[] {
  return table.seats.map((seat, i) => seat.name ?? `seat ${i + 1}`);
}

/** How many people sit there. */
export const peopleOf = ({ seats }: TableState) =>
  seats.filter((seat) => seat.name !== null && seat.bot === null).length;

export const isOver = ({ phase }: TableState) => phase === "over" || phase === "ended";

/** What the seat sees, in a game that is known; nothing where only players see something. */
export const viewOf = <View>(scene: Scene) => scene.view as unknown as View | null;

/** What happened before the viewer's last decision, and since. */
export function story({ told, fresh }: Scene): { before: Told[]; since: Told[] } {
  const from = told.length - fresh;
  return { before: told.slice(0, from), since: told.slice(from) };
}

/** The table that this page has opened a moment ago: all that happens there is new to the viewer. */
let opened: string | undefined;
export const isNew = (id: string) => (opened = id);
export const wasOpened = (id: string) => id === opened;

/** Opens a table and gives its id. */
export async function open(wanted: NewTable): Promise<string> {
  const { id } = await post<TableState>("/api/tables", wanted);
  isNew(id);
  return id;
}

/** Plays again with the same people, and gives the id of the table: the first one opens it, the others join. */
export async function playAgain(table: TableState): Promise<string> {
  try {
    const { id } = await post<TableState>(`/api/tables/${table.id}/rematch`);
    isNew(id);
    return id;
  } catch (error) {
    // The server does not remember who played here: a table like it will do.
    if (error instanceof RefusedError && error.status === 404) return open(like(table));
    throw error;
  }
}

function like(table: TableState): NewTable {
  return {
    game: table.game,
    name: ownName(),
    bots: table.seats.flatMap((seat) => seat.bot ?? []),
    friends: Math.max(0, peopleOf(table) - 1),
    options: table.options as NewTable["options"],
    coach: table.coach,
    clock: table.clock,
  };
}

const NAME = "table name";

export function ownName(): string {
  return localStorage.getItem(NAME) ?? "Player";
}

export function setOwnName(name: string) {
  localStorage.setItem(NAME, name);
}

/** With a capital letter, for a button. */
export const upper = (label: string) => label.charAt(0).toUpperCase() + label.slice(1);
