// A tournament as the host sets it up: who takes part, who meets whom, and what stands in the way of it.
import type { GameInfo, NewTournament, TournamentPace } from "../lib/schema";
import { count } from "../lib/words";
import { entryOf, filled, kept, OPTIMAL, SOLVED, written, type BotDraft } from "../play/setup";
import { formats, formatWords } from "./numbers";

/** What is asked for, as the fields have it. Fields that are empty are as usual. */
export interface Draft {
  options: Record<string, string>;
  entries: EntryDraft[];
  format: string;
  /** Seats of a match, where everybody meets everybody. */
  seats: number | null;
  blocks: number | null;
  seed: number | null;
  until: "blocks" | "decided" | "test";
  margin: number | null;
  elo0: number | null;
  elo1: number | null;
  rankBy: "luck-adjusted" | "plain";
  pace: TournamentPace;
}

export interface EntryDraft {
  /** The name that the host gives it. */
  name: string;
  bot: BotDraft;
}

/** More have been mistyped. */
export const MOST_ENTRIES = 100;

export const isAlone = (game: GameInfo) => game.max_seats === 1;

export function usual(game: GameInfo): Draft {
  return {
    options: {},
    entries: game.line_up.map(entryOf),
    format: game.format,
    seats: Math.min(Math.max(2, game.min_seats), game.max_seats),
    blocks: null,
    seed: null,
    until: "blocks",
    margin: null,
    elo0: 0,
    elo1: 20,
    rankBy: "luck-adjusted",
    pace: "fast",
  };
}

/** Where the browser keeps a set-up, so that it is there again after "Back". */
export const keptAs = (game: GameInfo) => `tournament of ${game.id}`;
export const draftOf = (game: GameInfo): Draft => kept(keptAs(game), usual(game));

/** Seats of a match. */
export function seatsOf({ format, entries, seats }: Draft): number {
  if (format === "round-robin") return seats ?? 0;
  return format === "gauntlet" ? 2 : entries.length;
}

/** Why a format does not suit so many entries of a game; nothing if it does. */
function misfit(game: GameInfo, format: string, entries: number, seats: number): string {
  const { title, min_seats: least, max_seats: most } = game;
  const [missing, excess] = [least - entries, entries - most];
  switch (format) {
    case "gauntlet":
      return least <= 2 && most >= 2 ? "" : `A match of ${title} is not one of two: choose another format.`;
    case "round-robin":
      if (seats <= entries) return "";
      return `A match has ${count(seats, "seat")}: add ${count(seats - entries, "bot")}, or choose fewer seats.`;
    default:
      if (missing > 0) return `A match of ${title} needs ${count(missing, "more bot")}.`;
      if (excess <= 0) return "";
      return `A match of ${title} has ${count(most, "seat")} at most: remove ${count(excess, "bot")}, or choose another format.`;
  }
}

/** The formats to choose from: those that fit, and the one that is chosen. */
export function formatsOf(game: GameInfo, { entries, format }: Draft) {
  const fits = (name: string) => misfit(game, name, entries.length, Math.max(1, game.min_seats)) === "";
  // A battle ranks by the median, as only the rules of some games want it.
  const suits = (name: string) =>
    name === "battle" ? game.format === name : !isAlone(game) || name === game.format;
  return formats.filter(({ name }) => name === format || (suits(name) && fits(name)));
}

/** How many blocks are played if nobody says. */
export function usualBlocks(game: GameInfo, { entries }: Draft): number {
  const programs = entries.some(({ bot }) => !game.bots.some(({ name }) => name === bot.name));
  return programs ? game.blocks_of_programs : game.blocks;
}

/** Whether a bot can play such matches. */
export const plays = (bot: string, seats: number) => bot !== OPTIMAL || seats <= SOLVED;

/** Why the tournament cannot begin like this. */
export function obstacles(game: GameInfo, draft: Draft): string[] {
  const { entries, format, until, elo0, elo1 } = draft;
  const [came, seats] = [entries.length, seatsOf(draft)];
  const missing = (isAlone(game) ? 1 : 2) - came;
  if (missing > 0) return [`A tournament of ${game.title} needs ${count(missing, "more bot")}.`];
  const why = [misfit(game, format, came, seats)];
  if (until === "test") {
    if (came !== 2) why.push(`A test compares 2 entries, not ${came}: change the line-up, or when to stop.`);
    else if (seats !== 2) why.push("A test needs matches of two: choose 2 seats, or when else to stop.");
    if (elo0 != null && elo1 != null && elo0 >= elo1) {
      why.push("The Elo difference to rule out must be smaller than the one to show.");
    }
  }
  if (entries.some(({ bot }) => !plays(bot.name, seats))) {
    why.push(`The bot ${OPTIMAL} plays matches of two: choose another bot or another format.`);
  }
  return why.filter((one) => one !== "");
}

/** The tournament that is asked for. */
export function wantedOf(game: GameInfo, draft: Draft): NewTournament {
  const { until, elo0, elo1 } = draft;
  return {
    game: game.id,
    options: Object.fromEntries(filled(draft.options)),
    entries: draft.entries.map(({ bot, name }) => ({ bot: written(bot), name: name.trim() || null })),
    format: draft.format,
    // What is not chosen is as the server plays the game.
    seats: draft.format === "round-robin" ? draft.seats : null,
    blocks: draft.blocks,
    seed: draft.seed,
    until_decided: until === "decided",
    margin: until === "decided" ? draft.margin : null,
    test: until === "test" && elo0 != null && elo1 != null ? { elo0, elo1 } : null,
    rank_by: game.solved ? draft.rankBy : null,
    pace: draft.pace,
  };
}

/** Who meets whom, in words. */
export const whoMeets = (format: string, seats: number) =>
  seats === 1 ? "Each plays alone" : formatWords(format);
