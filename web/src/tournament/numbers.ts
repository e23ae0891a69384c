// Numbers and states of tournaments as people read them.
import type { Interval, Standing, TournamentState, TournamentView } from "../lib/schema";
import type { TermName } from "../ui/glossary";

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
  { name: "gauntlet", text: "The first against each of the others" },
  { name: "battle", text: "All in one field" },
];

export function formatWords(name: string): string {
  return formats.find((format) => format.name === name)?.text ?? name;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

/** How fast matches are played, in the unit in which it is at least one: `1.4` a `minute`. */
export function pace(second: number): { value: string; per: string } {
  const units = [
    { per: "second", rate: second },
    { per: "minute", rate: 60 * second },
    { per: "hour", rate: 3600 * second },
  ];
  const { per, rate } = units.find(({ rate }) => rate >= 1) ?? units[second > 0 ? 2 : 0]!;
  const value = rate >= 10 ? whole.format(rate) : rate.toFixed(1);
  return { per, value: Number(rate.toFixed(1)) === 0 ? "–" : value };
}

/** `Ada or Bob`, `Ada, Bob or Cleo`, `one of 7` */
export function either(names: string[]): string {
  if (names.length > 3) return `one of ${names.length}`;
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
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
  if (s < 1) return "under 1 s";
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
  name: Extract<TermName, "win-rate" | "luck-adjusted" | "rating" | "mean-score" | "median-score">;
  text: string;
  unit: string;
  of: (standing: Standing) => Interval | null | undefined;
  write: (value: number) => string;
  /** Where the axis begins, if that is fixed. */
  zero: boolean;
}

const score = (value: number) => (Math.abs(value) < 100 ? value.toFixed(2) : whole.format(value));

/** All of them. Those who play alone win nothing and beat nobody: they are compared by their scores. */
export function measuresOf(seats: number): Measure[] {
  const alone = seats === 1;
  const all: Measure[] = [
    {
      name: "win-rate",
      text: "Wins",
      unit: "of the matches",
      of: (s) => s.win_rate,
      write: (v) => percent(v),
      zero: true,
    },
    {
      name: "luck-adjusted",
      text: "Without luck",
      unit: alone ? "points a match" : "of the matches",
      of: (s) => s.luck_adjusted,
      write: alone ? score : (v) => percent(v),
      zero: true,
    },
    {
      name: "rating",
      text: "Rating",
      unit: "Elo points",
      of: (s) => s.rating,
      write: (v) => `${v > 0 ? "+" : ""}${v.toFixed(0)}`,
      zero: false,
    },
    {
      name: "mean-score",
      text: "Score",
      unit: "points a match",
      of: (s) => s.mean_score,
      write: score,
      zero: true,
    },
    {
      name: "median-score",
      text: "Median",
      unit: "points a match",
      of: (s) => s.median_score,
      write: score,
      zero: true,
    },
  ];
  return all.filter(({ name }) => !(alone && (name === "win-rate" || name === "rating")));
}

/** What the chart and the race show over time. */
export function overTime(view: TournamentView): {
  name: TermName;
  words: string;
  axis: string;
  write: (value: number) => string;
} {
  if (view.seats > 1) {
    const write = (value: number) => `${value > 0 ? "+" : ""}${value.toFixed(0)}`;
    return { name: "rating", words: "Ratings", axis: "rating in Elo points", write };
  }
  const adjusted = view.order === "luck-adjusted";
  const write = (value: number) => value.toFixed(2);
  const words = adjusted ? "Scores without luck" : "Scores";
  return { name: adjusted ? "luck-adjusted" : "mean-score", words, axis: "points a match", write };
}

/** Round numbers along an axis, a few of them. */
export function ticksOf(low: number, high: number): number[] {
  const rough = (high - low) / 4 || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const apart = ([1, 2, 5, 10].find((one) => one * ten >= rough) ?? 10) * ten;
  const first = Math.ceil(low / apart - 1e-9);
  const last = Math.floor(high / apart + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * apart);
}

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
