// The numbers of a battle with their labels, for a turn and for the piece that is followed. They are read off the film here: a
// line for every piece and turn would be too much to send. What happened comes from the server in words.
import type { BattleFilm } from "../lib/schema";
import { count } from "../lib/words";
import { sentence } from "../replay/words";
import { CORPSE, RANGE, VISION, ZOMBIE, livingAt, way, type Moment, type Reel } from "./film";

/** The turn for those who listen: the numbers, and what the server has found worth a word. */
export function turnInWords(battle: BattleFilm, names: string[], turn: number): string {
  const living = battle.living
    .map((curve, seat) => ({ name: names[seat], number: livingAt(curve, turn) }))
    .filter(({ number }) => number > 0)
    .sort((a, b) => b.number - a.number);
  const total = living.reduce((sum, { number }) => sum + number, 0);
  const best = living.slice(0, 3).map(({ name, number }) => `${name} ${number}`);
  const numbers = [
    count(total, "survivor") +
      (best.length > 0 ? ` (${best.join(", ")}${living.length > 3 ? "…" : ""})` : ""),
    count(battle.zombies[turn] ?? 0, "zombie"),
    count(battle.corpses[turn] ?? 0, "corpse"),
  ];
  const happened = battle.notable.filter((one) => one.turn === turn).map(({ told }) => sentence(told, names));
  return [`Turn ${turn} of ${battle.turns}: ${numbers.join(", ")}`, ...happened].join(". ");
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
