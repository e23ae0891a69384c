// What is the same on every page: the games, and whether this browser is the host's.
import { get, wordsOf } from "./api";
import type { GameInfo, SiteInfo } from "./schema";

export const site = $state<{ info: SiteInfo | undefined; error: string | undefined }>({
  info: undefined,
  error: undefined,
});

export async function loadSite() {
  try {
    site.info = await get<SiteInfo>("/api/site");
    site.error = undefined;
  } catch (error) {
    site.error = wordsOf(error);
  }
}

export function game(id: string): GameInfo | undefined {
  return site.info?.games.find((game) => game.id === id);
}
