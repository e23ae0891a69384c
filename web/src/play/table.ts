// What the parts of a table share: its scenes, what happened in words, and who the player is.
import { post } from "../lib/api";
import type { LastBulletEvent, NewTable, Scene, TableState } from "../lib/schema";
import { infection, plural, tokyo, zombieDice, type Told } from "../replay/words";

export type SceneFor<G extends Scene["game"]> = Extract<Scene, { game: G }>;

/** What a game's part of the page is given. */
export interface At<G extends Scene["game"]> {
  table: TableState;
  scene: SceneFor<G>;
  names: string[];
  /** Whether an answer is wanted, and none is on its way. */
  asked: boolean;
  act: (action: unknown) => void;
}

export function namesOf(table: TableState): string[] {
  return table.seats.map((seat, i) => seat.name ?? `seat ${i + 1}`);
}

/** The fate of one's own survivors, in words. */
function lastBullet(event: LastBulletEvent): Told | undefined {
  switch (event.type) {
    case "rose":
      return { words: "A rising zombie has buried one of yours", strong: true };
    case "bitten":
      return { words: "One of yours was bitten", strong: true };
    case "killed":
      return { words: "One of yours was shot", strong: true };
    case "shot":
      if (event.result === "no_bullet") return undefined;
      return { words: event.result === "hit" ? "Your shot hit" : "Your shot missed" };
    case "scavenged":
      return { words: `You took ${plural(event.bullets, "bullet")} from a corpse` };
    case "entry_out":
      return { words: `You are gone: you lived to turn ${event.score}`, strong: true };
  }
}

function told(scene: Scene, name: (seat: number) => string): (Told | undefined)[] {
  switch (scene.game) {
    case "tokyo":
      return scene.events.map((event) => tokyo(event, name));
    case "last-bullet":
      return scene.events.map(lastBullet);
    case "infection":
      return scene.events.map((event) => {
        if (event.type === "met") {
          return { seat: event.seat, words: `${name(event.seat)} meets ${name(event.with)}` };
        }
        if (event.type === "told") {
          const { identity, stock } = event.report;
          const things =
            identity === "human"
              ? plural(stock, "antibody", "antibodies")
              : plural(stock, "virus", "viruses");
          return {
            seat: event.seat,
            words: `You are told: you are a ${identity} with ${things}`,
            strong: true,
          };
        }
        return infection(event, name);
      });
    default:
      return scene.events.map((event) => zombieDice(event, name));
  }
}

/** What happened before the viewer's last decision, and since. */
export function story(scene: Scene, names: string[]): { before: Told[]; since: Told[] } {
  const all = told(scene, (seat) => names[seat] ?? `seat ${seat + 1}`);
  const from = all.length - scene.fresh;
  const there = (one: Told | undefined): one is Told => one !== undefined;
  return { before: all.slice(0, from).filter(there), since: all.slice(from).filter(there) };
}

/** Opens a table and gives its id. */
export async function open(wanted: NewTable): Promise<string> {
  return (await post<TableState>("/api/tables", wanted)).id;
}

/** The same table once more. */
export function again(table: TableState): NewTable {
  const people = table.seats.filter((seat) => seat.bot === null).length;
  return {
    game: table.game,
    name: ownName(),
    bots: table.seats.flatMap((seat) => seat.bot ?? []),
    friends: Math.max(0, people - 1),
    options: table.options as NewTable["options"],
    coach: table.coach,
  };
}

const NAME = "table name";

export function ownName(): string {
  return localStorage.getItem(NAME) ?? "Player";
}

export function setOwnName(name: string) {
  localStorage.setItem(NAME, name);
}

/** Whether a key is meant for the table and not for a field or a control. */
export function isFree(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return false;
  const target = event.target instanceof HTMLElement ? event.target : undefined;
  return !target?.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
}
