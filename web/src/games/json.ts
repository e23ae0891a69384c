// The JSON of any game, sorted into what can be laid out.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

export const isFields = (value: Json): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether it is a single word or number. */
export const isPlain = (value: Json): value is null | boolean | number | string =>
  typeof value !== "object" || value === null;

/** `most_viruses` as people write it. */
export const words = (name: string) => name.replaceAll("_", " ");

export function shown(value: null | boolean | number | string): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? words(value) : String(value);
}

/** A view: what there is of each seat, as columns, and everything else. */
export interface Sorted {
  columns: { title: string; cells: Json[] }[];
  facts: [string, Json][];
}

export function sorted(view: Fields, seats: number): Sorted {
  const sorted: Sorted = { columns: [], facts: [] };
  for (const [name, value] of Object.entries(view)) {
    // Whose eyes it is seen through is known.
    if (name === "seat") continue;
    if (!Array.isArray(value) || value.length !== seats) {
      sorted.facts.push([name, value]);
    } else if (value.every(isFields)) {
      const titles = new Set(value.flatMap((one) => Object.keys(one)));
      for (const title of titles) {
        sorted.columns.push({ title: words(title), cells: value.map((one) => one[title] ?? null) });
      }
    } else {
      sorted.columns.push({ title: words(name), cells: value });
    }
  }
  return sorted;
}
