// What is worth a look in a match, found from what it was worth at every moment, or else from its scores. Games may add their own.
import { lookOf } from "../games/films";
import type { Film } from "../lib/schema";
import { shownChange, shownValue, winnersOf, worstOf } from "./words";

export interface Moment {
  /** Its name in the address: `#moment=luck`. */
  name: "luck" | "mistakes" | "comeback" | "turn" | "close" | "first" | "healed" | "last";
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
  return [...ofValues(film, winner), ...own, ...ofScores(film, winner)];
}

/** The roll with the most luck, the decision that cost most, and how low the winner was. */
function ofValues({ values, names }: Film, winner: number | undefined): Moment[] {
  if (!values) return [];
  const { unit, entries } = values;
  const moments: Moment[] = [];
  const own = (seat: number, value: number) => (seat === 0 || unit === "points" ? value : -value);
  const rolls = entries.filter((entry) => entry.type === "roll");
  const lucky = rolls.toSorted((a, b) => own(b.seat, b.luck) - own(a.seat, a.luck))[0];
  if (lucky && own(lucky.seat, lucky.luck) > 0) {
    moments.push({
      name: "luck",
      title: "Luckiest roll",
      step: lucky.step,
      seat: lucky.seat,
      words: `${names[lucky.seat]} rolled ${lucky.words}`,
      amount: shownChange(own(lucky.seat, lucky.luck), unit),
    });
  }
  const [worst] = worstOf(values);
  if (worst) {
    moments.push({
      name: "mistakes",
      title: "Worst decision",
      step: worst.step,
      seat: worst.seat,
      words: `${names[worst.seat]} ${worst.chosen}, the perfect player ${worst.options[0]?.words}`,
      amount: shownChange(-worst.regret, unit),
    });
  }
  if (unit === "points" || winner === undefined) return moments;
  const chance = (value: number) => (winner === 0 ? value : 1 - value);
  const steps = entries.flatMap((entry) =>
    entry.type === "limit" ? [] : [{ step: entry.step, chance: chance(entry.after) }],
  );
  const lowest = steps.toSorted((a, b) => a.chance - b.chance)[0];
  if (lowest && lowest.chance < 0.5) {
    moments.push({
      name: "comeback",
      title: "Biggest comeback",
      step: lowest.step,
      seat: winner,
      words: `${names[winner]} came back from here and won`,
      amount: shownValue(lowest.chance, unit),
    });
    const behind = steps.findLastIndex((one) => one.chance < 0.5);
    const ahead = steps[behind + 1];
    if (ahead) {
      moments.push({
        name: "turn",
        title: "Turning point",
        step: ahead.step,
        seat: winner,
        words: `from here on ${names[winner]} was ahead`,
        amount: shownValue(ahead.chance, unit),
      });
    }
  }
  return moments;
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
