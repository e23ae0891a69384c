// A table as somebody sets it up: which bots, with which parameters, and what stands in the way of a game.
import type { GameInfo, NewTable, OptionInfo, PlayInfo } from "../lib/schema";
import { count } from "../lib/words";

/** What is asked for, as the fields have it. Fields that are empty are as usual. */
export interface Draft {
  bots: BotDraft[];
  friends: number | null;
  coach: boolean;
  /** Seconds for a decision; none without a clock. */
  clock: number | null;
  settings: Record<string, string>;
}

export interface BotDraft {
  name: string;
  params: Record<string, string>;
}

/** The perfect player: it knows games for one and for two. */
export const OPTIMAL = "optimal";
export const SOLVED = 2;

/** `patient=stop-at:brains=5` as a name, which may be empty, and a bot. */
export function entryOf(text: string): { name: string; bot: BotDraft } {
  const [, name = "", bot = ""] = /^(?:([^=:]*)=)?(.*)$/.exec(text) ?? [];
  return { name, bot: botOf(bot) };
}

/** `stop-at:brains=5,shotguns=2` as a bot and its parameters. */
export function botOf(text: string): BotDraft {
  const [name = "", params = ""] = text.split(":");
  const set = params.split(",").flatMap((one) => (one ? [one.split("=") as [string, string]] : []));
  return { name, params: Object.fromEntries(set) };
}

/** As it is written on the command line. */
export function written({ name, params }: BotDraft): string {
  const set = filled(params).map(([param, text]) => `${param}=${text}`);
  return set.length > 0 ? `${name}:${set.join(",")}` : name;
}

/** What is filled in. */
export function filled(values: Record<string, string>): [string, string][] {
  return Object.entries(values).flatMap(([name, text]): [string, string][] => {
    const value = String(text).trim();
    return value === "" ? [] : [[name, value]];
  });
}

/** The bots of a table beside those of the game's line-up. */
export type Known = Pick<PlayInfo, "opponents">;

/** A bot with parameters that suit it: those that the game's own line-ups give it. Some bots never stop without any. */
export function sensible(game: GameInfo, info: Known, name: string): BotDraft {
  const known = [...info.opponents, ...game.line_up].map((text) => entryOf(text).bot);
  return known.find((bot) => bot.name === name) ?? { name, params: {} };
}

/** One more bot: one that is not at the table yet, if there is one. */
export function oneMore(game: GameInfo, info: Known, bots: BotDraft[]): BotDraft {
  const known = [...info.opponents, ...game.line_up].map((text) => entryOf(text).bot);
  const next = known.find((bot) => !bots.some((other) => other.name === bot.name)) ?? known[0];
  return structuredClone(next ?? { name: game.bots[0]?.name ?? "", params: {} });
}

export function usual(info: PlayInfo): Draft {
  const settings = Object.entries(info.options).map(([name, value]) => [name, String(value)]);
  return {
    bots: info.opponents.map(botOf),
    friends: 0,
    coach: false,
    clock: null,
    settings: Object.fromEntries(settings) as Record<string, string>,
  };
}

export const seatsOf = ({ bots, friends }: Draft) => 1 + (friends ?? 0) + bots.length;

/** The options as a table takes them: some have narrower bounds than the rules. */
export function optionsOf(game: GameInfo, info: PlayInfo): OptionInfo[] {
  return game.options.map((option) => {
    const bound = info.bounds.find((one) => one.option === option.name);
    if (!bound || option.takes.kind === "choice") return option;
    const takes = { ...option.takes, min: bound.least, max: bound.most };
    return { ...option, takes, or_none: false, values: `${bound.least} to ${bound.most} at a table` };
  });
}

/** Whether a bot can sit at the table as it is. */
export const fits = (bot: string, draft: Draft) => bot !== OPTIMAL || seatsOf(draft) <= SOLVED;

/** Whether the coach knows such a game. */
export const coached = (draft: Draft) => seatsOf(draft) <= SOLVED;

/** Why the game cannot begin like this. */
export function obstacles(game: GameInfo, info: PlayInfo, draft: Draft): string[] {
  const seats = seatsOf(draft);
  const [missing, excess] = [game.min_seats - seats, seats - info.most_seats];
  const why: string[] = [];
  if (missing > 0) why.push(`${game.title} needs ${count(missing, "more player")}: add a bot or a friend.`);
  if (excess > 0) why.push(`A table has ${count(info.most_seats, "seat")} at most: remove ${excess}.`);
  if (draft.coach && !coached(draft)) {
    why.push(`The coach knows games for two: leave one opponent, or switch the coach off.`);
  }
  if (draft.bots.some((bot) => !fits(bot.name, draft))) {
    why.push(`The bot ${OPTIMAL} plays games for two: leave one opponent, or choose another bot.`);
  }
  return why;
}

function value(text: string): unknown {
  if (text === "none") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The table that is asked for. */
export function wantedOf(draft: Draft): Pick<NewTable, "bots" | "friends" | "options" | "coach" | "clock"> {
  const options = filled(draft.settings).map(([name, text]) => [name, value(text)]);
  return {
    bots: draft.bots.map(written),
    friends: draft.friends ?? 0,
    options: Object.fromEntries(options) as NewTable["options"],
    coach: draft.coach,
    clock: draft.clock,
  };
}

const KEPT = "set-up of ";

/** What was set up before in this tab, so that it is there again after "Back". */
export const draftOf = (info: PlayInfo): Draft => kept(info.game, usual(info));

/** What was kept under this name, and of the usual what is missing in it. */
export function kept<T extends object>(name: string, usual: T): T {
  const text = sessionStorage.getItem(KEPT + name);
  return { ...usual, ...(text ? (JSON.parse(text) as Partial<T>) : {}) };
}

export function keep(name: string, draft: object) {
  sessionStorage.setItem(KEPT + name, JSON.stringify(draft));
}
