// What is chosen in the list of matches, as it stands in the address.

export interface List {
  from: string;
  entry: string;
  /** `won` or `lost`. */
  result: string;
  /** `some`. */
  faults: string;
  sort: string;
  /** `up`. */
  order: string;
  /** The place of a match in the list. */
  at: string;
  [name: string]: string;
}

export function listOf(query: string): List {
  const has = new URLSearchParams(query);
  const of = (name: string) => has.get(name) ?? "";
  return {
    from: of("from"),
    entry: of("entry"),
    result: of("result"),
    faults: of("faults"),
    sort: of("sort"),
    order: of("order"),
    at: of("at"),
  };
}

/** The same for an address, without what is not chosen. */
export function queryOf(list: List): string {
  return new URLSearchParams(Object.entries(list).filter(([, value]) => value !== "")).toString();
}
