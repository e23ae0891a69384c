// What is the same on every page: the games, and whether this browser is the host's.
import { persist } from "./api";
import type { GameInfo, SiteInfo } from "./schema";

export const site = $state<{ info: SiteInfo | undefined; error: string | undefined }>({
  info: undefined,
  error: undefined,
});

/** Asks until it is known. Gives a function that ends it. */
export function loadSite(): () => void {
  return persist<SiteInfo>(
    "/api/site",
    (info) => {
      site.info = info;
    },
    (words) => {
      site.error = words || undefined;
    },
  );
}

export function game(id: string): GameInfo | undefined {
  return site.info?.games.find((game) => game.id === id);
}
