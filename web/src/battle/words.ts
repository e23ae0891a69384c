// A battle in words: what a turn looks like, and what becomes of the piece that is followed. What happened comes from the server.
import type { BattleFilm } from "../lib/schema";
import { count } from "../lib/words";
import { CORPSE, RANGE, VISION, ZOMBIE, livingAt, way, type Moment, type Reel } from "./film";

/** The turn for those who listen. */
export function turnInWords(battle: BattleFilm, names: string[], turn: number): string {
  const living = battle.living.map((curve) => livingAt(curve, turn));
  const total = living.reduce((sum, one) => sum + one, 0);
  const best = living
    .map((number, seat) => ({ number, name: names[seat] }))
    .filter((entry) => entry.number > 0)
    .sort((a, b) => b.number - a.number)
    .slice(0, 3)
    .map((entry) => `${entry.name} ${entry.number}`);
  const entries = living.filter((number) => number > 0).length;
  const who = best.length === 0 ? "" : `, most of ${best.join(", ")}`;
  return (
    `Turn ${turn} of ${battle.turns}: ${count(total, "survivor")} of ${count(entries, "entry", "entries")}${who}; ` +
    `${count(battle.zombies[turn] ?? 0, "zombie")}, ${count(battle.corpses[turn] ?? 0, "corpse")}.`
  );
}

export interface Portrait {
  name: string;
  state: string;
}

/** A piece in a turn: who it is, and what it does and sees. */
export function portrait(reel: Reel, names: string[], piece: number, turn: number): Portrait {
  const moment = reel.at(turn);
  const seat = reel.entryOf(piece);
  const name = seat === undefined ? "A zombie" : `${names[seat]} ${(piece % reel.copies) + 1}`;
  // What the turn does not know yet: a zombie that rises later.
  if (piece >= moment.count) return { name, state: "has not risen yet" };
  const where = `at ${moment.x[piece]!}, ${moment.y[piece]!}`;
  const sees = sight(moment, reel.side, piece);
  switch (moment.who[piece]!) {
    case CORPSE:
      return { name, state: `is a corpse ${where}` };
    case ZOMBIE:
      return { name, state: `${seat === undefined ? "walks" : "is a zombie now,"} ${where}; ${sees.words}` };
    default: {
      const bullets = count(moment.bullets[piece]!, "bullet");
      return {
        name,
        state: `lives ${where} with ${bullets}; ${sees.words}, ${sees.near} of them within range`,
      };
    }
  }
}

function sight(moment: Moment, side: number, piece: number): { words: string; near: number } {
  let [zombies, others, near] = [0, 0, 0];
  for (let other = 0; other < moment.count; other++) {
    const dx = Math.abs(way(moment.x[piece]!, moment.x[other]!, side));
    const dy = Math.abs(way(moment.y[piece]!, moment.y[other]!, side));
    const distance = Math.max(dx, dy);
    if (other === piece || distance > VISION || moment.who[other]! === CORPSE) continue;
    if (moment.who[other]! === ZOMBIE) zombies++;
    else others++;
    if (distance <= RANGE) near++;
  }
  return { words: `sees ${count(zombies, "zombie")} and ${count(others, "survivor")}`, near };
}
