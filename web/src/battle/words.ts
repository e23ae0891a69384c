// A battle in words: what is worth a look, and what a turn looks like.
import type { BattleFilm, Happening } from "../lib/schema";
import { livingAt } from "./film";

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function happeningInWords(what: Happening, names: string[]): string {
  switch (what.type) {
    case "first_bite":
      return `First bite: ${names[what.seat]} loses a survivor to the zombies`;
    case "first_blood":
      return what.seat === what.victim
        ? `First blood: ${names[what.seat]} shoots one of its own`
        : `First blood: ${names[what.seat]} shoots a survivor of ${names[what.victim]}`;
    case "hunter":
      return `${counted(what.hits, "hit")} by one survivor of ${names[what.seat]}`;
    case "hoard":
      return `A survivor of ${names[what.seat]} carries ${counted(what.bullets, "bullet")}`;
    case "massacre":
      return `Massacre: ${counted(what.lost, "survivor")} lost in one turn`;
    case "outnumbered":
      return `Outnumbered: ${counted(what.zombies, "zombie")} against ${counted(what.living, "survivor")}`;
    case "half_gone":
      return `${names[what.seat]} has lost half of its copies`;
    case "entry_out":
      return `${names[what.seat]} is out: it lived to turn ${what.score}`;
    case "last_entry":
      return `Only ${names[what.seat]} is left`;
    case "last_survivor":
      return `One survivor is left: ${names[what.seat]}`;
  }
}

/** The turn for those who listen. */
export function turnInWords(battle: BattleFilm, names: string[], turn: number): string {
  const living = battle.living.map((curve) => livingAt(curve, turn));
  const total = living.reduce((sum, count) => sum + count, 0);
  const best = living
    .map((count, seat) => ({ count, name: names[seat] }))
    .filter((entry) => entry.count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, 3)
    .map((entry) => `${entry.name} ${entry.count}`);
  const entries = living.filter((count) => count > 0).length;
  const who = best.length === 0 ? "" : `, most of ${best.join(", ")}`;
  return (
    `Turn ${turn} of ${battle.turns}: ${counted(total, "survivor")} of ${counted(entries, "entry", "entries")}${who}; ` +
    `${counted(battle.zombies[turn] ?? 0, "zombie")}, ${counted(battle.corpses[turn] ?? 0, "corpse")}.`
  );
}
