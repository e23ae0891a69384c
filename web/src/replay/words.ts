// The little that the pages say of a match themselves: what happened comes from the server in words.
import type { Film, Frame, Outcome, Text, Told, Unit, ValueEntry, Values } from "../lib/schema";

/** Something that happened, as a plain sentence. */
export function sentence(told: Told, names: string[]): string {
  const text = told.text.map((span) => span.text).join("");
  return told.seat === null ? text : `${names[told.seat]} ${text}`;
}

/** The dice that lay there when somebody decided in a step, and which of them were kept then; none before the first roll of a turn. */
export function diceBefore(frames: Frame[], step: number, kept: boolean[] = []): Text {
  for (let at = step - 1; at >= 0; at--) {
    for (const { text, mark } of frames[at]?.told.toReversed() ?? []) {
      const dice = text.flatMap(({ text, ink }) => {
        if (typeof ink === "string" || "name" in ink) return [];
        return [{ text, shade: "die" in ink ? ink.die : ink.kept_die }];
      });
      if (dice.length > 0) {
        return dice.map(({ text, shade }, i) => ({
          text,
          ink: kept[i] ? { kept_die: shade } : { die: shade },
        }));
      }
      if (mark) return [];
    }
  }
  return [];
}

export type Decision = Extract<ValueEntry, { type: "decision" }>;

/** The most expensive decisions, the worst first. */
export function worstOf({ entries, worst }: Values): Decision[] {
  return worst.flatMap((place) => {
    const entry = entries[place];
    return entry?.type === "decision" ? [entry] : [];
  });
}

/** The steps with which the second turn and all later ones begin. */
export function turnsOf({ frames }: Film): number[] {
  return frames.flatMap(({ turn }, step) => (step > 0 && turn !== frames[step - 1]?.turn ? [step] : []));
}

/** What happens in a step, as a plain sentence without its end. */
export function stepWords(film: Film, step: number): string {
  const frame = film.frames[step];
  if (step === 0 || !frame) return "the set-up";
  return frame.player === null ? frame.words : `${film.names[frame.player]} ${frame.words}`;
}

export function winnersOf(outcome: Outcome): number[] {
  return outcome.places.flatMap((place, seat) => (place === 1 ? [seat] : []));
}

/** A value as people read it: `63.2%`, `4.31`. */
export function shownValue(value: number, unit: Unit): string {
  return unit === "chance" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
}

/** What something costs, in a sentence: `3.2%`, `0.41 points`. */
export function shownCost(cost: number, unit: Unit): string {
  return unit === "chance" ? shownValue(cost, unit) : `${cost.toFixed(2)} points`;
}

/** A difference of values: `+3.2%`, `-0.41`. */
export function shownChange(value: number, unit: Unit): string {
  const number = unit === "chance" ? (100 * value).toFixed(1) : value.toFixed(2);
  return `${value > 0 ? "+" : ""}${number}${unit === "chance" ? "%" : ""}`;
}
