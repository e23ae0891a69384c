// The little that the pages say of a match themselves: what happened comes from the server in words.
import type { Film, Frame, Ink, Outcome, Text, Told, Unit } from "../lib/schema";

/** Something that happened, as a plain sentence. */
export function sentence(told: Told, names: string[]): string {
  const text = told.text.map((span) => span.text).join("");
  return told.seat === null ? text : `${names[told.seat]} ${text}`;
}

/** A die is kept for one roll: in the next decision it lies there like the others. */
const loose = (ink: Ink): Ink => (typeof ink === "object" && "kept_die" in ink ? { die: ink.kept_die } : ink);

/** The dice that lay there when somebody decided in a step; none before the first roll of a turn. */
export function diceBefore(frames: Frame[], step: number): Text {
  for (let at = step - 1; at >= 0; at--) {
    for (const { text, mark } of frames[at]?.told.toReversed() ?? []) {
      const dice = text.filter(({ ink }) => typeof ink === "object" && !("name" in ink));
      if (dice.length > 0) return dice.map((die) => ({ ...die, ink: loose(die.ink) }));
      if (mark) return [];
    }
  }
  return [];
}

/** The steps after which a turn begins. */
export function turnsOf(film: Film): number[] {
  return film.frames.flatMap((frame, step) => (step > 0 && frame.told.some((one) => one.mark) ? [step] : []));
}

/** How it ended, in a sentence. */
export function result({ names, outcome, scores, frames }: Film): string {
  if (names.length === 1) return `${names[0]}: ${scores[0]}`;
  const winners = winnersOf(outcome).map((seat) => names[seat]);
  if (winners.length === 1) return `${winners[0]} wins`;
  // Where a side has won, the game has said so.
  const end = frames.at(-1)?.told.findLast((one) => one.mark && one.seat === null);
  if (end) return sentence(end, names);
  return winners.length <= 4 ? `${winners.join(" and ")} share the win` : `${winners.length} share the win`;
}

export function winnersOf(outcome: Outcome): number[] {
  return outcome.places.flatMap((place, seat) => (place === 1 ? [seat] : []));
}

/** A value as people read it: `63.2%`, `4.31 points`. */
export function shownValue(value: number, unit: Unit): string {
  return unit === "chance" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
}

/** A difference of values: `+3.2`, `-0.41`. */
export function shownChange(value: number, unit: Unit): string {
  const number = unit === "chance" ? (100 * value).toFixed(1) : value.toFixed(2);
  return `${value > 0 ? "+" : ""}${number}${unit === "chance" ? "%" : ""}`;
}
