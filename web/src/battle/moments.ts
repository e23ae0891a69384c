// The kinds of moments of a battle, and which of each kind is the one that its name leads to.
import type { Notable, NotableKind } from "../lib/schema";

export const KINDS: Record<NotableKind, string> = {
  bite: "First bite",
  blood: "First blood",
  hits: "Most hits",
  bullets: "Most bullets",
  half: "Half lost",
  outnumbered: "Outnumbered",
  massacre: "Massacres",
  gone: "Out",
  alone: "Only entry left",
  last: "Last survivor",
};

/** Of each kind the first; of records, which only grow, the last. */
export function namedMoments(notable: Notable[]): Map<NotableKind, Notable> {
  const named = new Map<NotableKind, Notable>();
  for (const one of notable) {
    const grows = one.kind === "hits" || one.kind === "bullets";
    if (grows || !named.has(one.kind)) named.set(one.kind, one);
  }
  return named;
}
