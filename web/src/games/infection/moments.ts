// What is worth a look in a game of Infection: the first infection, the first cure, when only one was not infected, and how it ended.
import type { Effect, Film, InfectionEvent, Role } from "../../lib/schema";
import type { Moment } from "../../replay/moments";
import { winnersOf } from "../../replay/words";
import { sceneOf } from "./story";

const falls = (effect: Effect) => effect.was === "human" && effect.is === "infected";
const heals = (effect: Effect) => effect.was === "infected" && effect.is === "human";

export function moments({ frames, names, steps, outcome, result }: Film): Moment[] {
  const found: Moment[] = [];
  const roles: Role[] = [];
  const add = (name: Moment["name"], title: string, step: number, seat: number, words: string) => {
    const amount = `turn ${frames[step]?.turn ?? 0}`;
    if (!found.some((one) => one.name === name)) found.push({ name, title, step, seat, words, amount });
  };
  frames.forEach((frame, step) => {
    for (const event of frame.events as InfectionEvent[]) {
      if (event.type === "resolved") {
        const fell = event.effects.findIndex(falls);
        const [victim, other] = [event.seats[fell], event.seats[1 - fell]];
        if (victim !== undefined && other !== undefined) {
          add("first", "First infection", step, other, `${names[other]} infected ${names[victim]}`);
        }
      } else if (event.type === "antidote" && event.effect && heals(event.effect)) {
        add("healed", "First cure", step, event.seat, `${names[event.seat]} took the antidote in time`);
      }
    }
    for (const { seat, role } of sceneOf(frame).changed) roles[seat] = role;
    const humans = roles.flatMap((role, seat) => (role === "human" ? [seat] : []));
    if (humans.length === 1 && names.length > 2) {
      add("last", "Down to one", step, humans[0]!, `only ${names[humans[0]!]} was not infected`);
    }
  });
  add("close", "The finish", steps, winnersOf(outcome)[0] ?? 0, result);
  return found.sort((a, b) => a.step - b.step);
}
