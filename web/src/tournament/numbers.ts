// Numbers and states of tournaments as people read them.
import type { Interval, Standing, TournamentState } from "../lib/schema";

export const stateWords: Record<TournamentState, string> = {
  running: "running",
  paused: "paused",
  cancelled: "cancelled",
  finished: "finished",
  decided: "decided early",
  failed: "stopped by a problem",
};

/** Who meets whom, by the name that the server knows. */
export const formats = [
  { name: "table", text: "All at one table" },
  { name: "round-robin", text: "Everybody against everybody" },
  { name: "gauntlet", text: "The first against each other" },
  { name: "battle", text: "All in one field" },
];

export function formatWords(name: string): string {
  return formats.find((format) => format.name === name)?.text ?? name;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

export function rate(value: number): string {
  return value < 10 ? value.toFixed(1) : whole.format(value);
}

export function percent(value: number, digits = 1): string {
  return `${(value * 100).toFixed(digits)}%`;
}

/** Money with as many digits as tell something; a question mark where a price is not known. */
export function money(amount: number | null | undefined): string {
  if (amount == null) return "?";
  return amount.toFixed(amount > 0 && amount < 0.001 ? 6 : 4);
}

/** Seconds as people say them. */
export function duration(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")} min`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86_400)} days`;
}

/** Ranks that the results allow. */
export function ranks(standing: Standing): string {
  const { best_rank: best, worst_rank: worst } = standing;
  return best === worst ? String(best) : `${best}–${worst}`;
}

/** A colour for an entry of the line-up. */
export function colour(entry: number): string {
  return `var(--seat-${entry % 6})`;
}

/** What bars can show. */
export interface Measure {
  name: string;
  text: string;
  of: (standing: Standing) => Interval | null | undefined;
  write: (value: number) => string;
  /** Where the axis begins, if that is fixed. */
  zero: boolean;
}

const score = (value: number) => (Math.abs(value) < 100 ? value.toFixed(2) : whole.format(value));

/** All of them. Those who play alone are compared by their scores. */
export const measuresOf = (seats: number): Measure[] => [
  { name: "win-rate", text: "Wins", of: (s) => s.win_rate, write: (v) => percent(v), zero: true },
  {
    name: "luck-adjusted",
    text: "Without luck",
    of: (s) => s.luck_adjusted,
    write: seats === 1 ? score : (v) => percent(v),
    zero: true,
  },
  {
    name: "rating",
    text: "Rating",
    of: (s) => s.rating,
    write: (v) => `${v > 0 ? "+" : ""}${v.toFixed(0)}`,
    zero: false,
  },
  { name: "mean-score", text: "Score", of: (s) => s.mean_score, write: score, zero: true },
  { name: "median-score", text: "Median", of: (s) => s.median_score, write: score, zero: true },
];

/** How many matches a block has. */
export function matchesOfBlock(format: string, entries: number, seats: number): number {
  // All orders of up to four, all rotations of more.
  const orders = (of: number) => [1, 1, 2, 6, 24][of] ?? of;
  switch (format) {
    case "battle":
      return 1;
    case "gauntlet":
      return 2 * (entries - 1);
    case "round-robin": {
      let groups = 1;
      for (let i = 0; i < seats; i++) groups = (groups * (entries - i)) / (i + 1);
      return Math.round(groups) * orders(seats);
    }
    default:
      return orders(entries);
  }
}
