// Dice that a player keeps.
import type { TokyoAction } from "../../lib/schema";

/** By place, whether a die is kept; none where another thing was decided. */
export function kept(action: unknown): boolean[] | undefined {
  const chosen = action as TokyoAction | null | undefined;
  return chosen?.type === "keep" ? chosen.dice : undefined;
}
