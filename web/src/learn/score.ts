// The scores of the drill. They stay in this browser: there are no accounts.

/** Levels are 1 to 10. */
export const HARDEST = 10;
const KEY = "drill";

export interface Score {
  level: number;
  /** Answers, and how many of them were right. */
  asked: number;
  good: number;
  /** What all answers have cost. */
  lost: number;
  /** Right answers since the last wrong one. */
  row: number;
}

export const score = (): Score => ({ level: 1, asked: 0, good: 0, lost: 0, row: 0 });

const isScore = (value: unknown): value is Score =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(score()).every((part) => Number.isFinite((value as Record<string, unknown>)[part])) &&
  (value as Score).level >= 1 &&
  (value as Score).level <= HARDEST;

/** What was kept, by game. What cannot be read is begun anew. */
export function kept(): Record<string, Score> {
  try {
    const all = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, Score] => isScore(entry[1])),
    );
  } catch {
    return {};
  }
}

export function keep(scores: Record<string, Score>) {
  try {
    localStorage.setItem(KEY, JSON.stringify(scores));
  } catch {
    // A browser that keeps nothing can be played with all the same.
  }
}
