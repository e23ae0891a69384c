// What is worth a look in a match: the extremes of its values, which the server has found, or else of its scores. Games may add their own.
import { lookOf } from "../games/films";
import type { Film, PeakName, ValueEntry, Values } from "../lib/schema";
import { shownChange, shownValue, winnersOf } from "./words";

export interface Moment {
  /** Its name in the address: `#moment=luck`. */
  name: PeakName | "close" | "first" | "healed" | "last";
  title: string;
  step: number;
  /** Whose moment it is. */
  seat: number;
  words: string;
  /** How much it was. */
  amount: string;
}

export function momentsOf(film: Film): Moment[] {
  const winners = winnersOf(film.outcome);
  const winner = film.names.length > 1 && winners.length === 1 ? winners[0] : undefined;
  const own = lookOf(film.game)?.moments?.(film) ?? [];
  const priced = film.values ? ofValues(film.values, film.names) : [];
  return [...priced, ...own, ...ofScores(film, winner)];
}

const TITLES: Record<PeakName, string> = {
  luck: "Luckiest roll",
  mistakes: "Worst decision",
  comeback: "Biggest comeback",
  turn: "Turning point",
};

/** What the server has found: the luckiest roll, the worst decision, and how low the winner was. */
function ofValues(values: Values, names: string[]): Moment[] {
  const { unit, entries, peaks } = values;
  return peaks.map(({ name, entry, step, seat, amount }) => ({
    name,
    title: TITLES[name],
    step,
    seat,
    words: peakWords(name, names[seat] ?? "", entries[entry]),
    amount:
      name === "luck" || name === "mistakes"
        ? shownChange(name === "luck" ? amount : -amount, unit)
        : shownValue(amount, unit),
  }));
}

function peakWords(name: PeakName, who: string, entry: ValueEntry | undefined): string {
  if (name === "comeback") return `${who} came back from here and won`;
  if (name === "turn") return `from here on ${who} was ahead`;
  if (entry?.type === "decision")
    return `${who} ${entry.chosen}, the perfect player ${entry.options[0]?.words}`;
  return entry?.type === "roll" ? `${who} rolled ${entry.words}` : "";
}

/** How close it ended, and where nothing better is known how far the winner was behind. */
function ofScores(film: Film, winner: number | undefined): Moment[] {
  const scoresOf = lookOf(film.game)?.scores;
  if (winner === undefined || !scoresOf) return [];
  const { names, outcome, frames } = film;
  const behind = (scores: number[]) =>
    Math.max(...scores.filter((_, seat) => seat !== winner)) - (scores[winner] ?? 0);
  const moments: Moment[] = [];
  const course = frames.map((frame, step) => ({ step, behind: behind(scoresOf(frame.scene)) }));
  const deepest = course.toSorted((a, b) => b.behind - a.behind)[0];
  if (!film.values && deepest && deepest.behind > 0) {
    moments.push({
      name: "comeback",
      title: "Biggest comeback",
      step: deepest.step,
      seat: winner,
      words: `${names[winner]} was this far behind and still won`,
      amount: `-${deepest.behind}`,
    });
  }
  const margin = -behind(outcome.scores);
  moments.push({
    name: "close",
    title: "The finish",
    step: film.steps,
    seat: winner,
    words: `${names[winner]} ${film.scores[winner]}, ${margin >= 0 ? "the next" : "the other"} ${
      (outcome.scores[winner] ?? 0) - margin
    }`,
    amount: `${margin >= 0 ? "+" : ""}${margin}`,
  });
  return moments;
}
