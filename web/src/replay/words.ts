// What happened in a step, in words. The dice beside them are drawn.
import type {
  Die,
  Film,
  InfectionEvent,
  Outcome,
  TokyoEvent,
  TokyoFace,
  Unit,
  ZombieDiceEvent,
} from "../lib/schema";

export interface Told {
  words: string;
  seat?: number | undefined;
  /** Something that cannot be overlooked. */
  strong?: boolean | undefined;
  hand?: Die[] | undefined;
  dice?: { face: TokyoFace; kept: boolean }[] | undefined;
}

export const plural = (number: number, one: string, many = `${one}s`) =>
  `${number} ${number === 1 ? one : many}`;

export function zombieDice(event: ZombieDiceEvent, name: (seat: number) => string): Told {
  switch (event.type) {
    case "rolled": {
      const sum = `${plural(event.brains, "brain")} and ${plural(event.shotguns, "shotgun")} in this turn`;
      return { seat: event.seat, words: `${name(event.seat)} rolls: ${sum}`, hand: event.hand };
    }
    case "turn_ended": {
      const why = {
        stopped: "stops",
        out_of_dice: "has no dice left to roll",
        busted: "is hit by the third shotgun",
        forfeited: "gave no valid answer",
      }[event.why];
      const banks = event.banked > 0 ? `banks ${plural(event.banked, "brain")}` : "banks nothing";
      const words = `${name(event.seat)} ${why} and ${banks}: ${event.score} in all`;
      return { seat: event.seat, words, strong: event.why === "busted" };
    }
    case "tiebreak_started":
      return { words: `Tiebreak between ${event.seats.map(name).join(", ")}`, strong: true };
  }
}

export function tokyo(event: TokyoEvent, name: (seat: number) => string): Told {
  const seat = event.seat;
  switch (event.type) {
    case "turn_started": {
      const extra = event.points > 0 ? `, in Tokyo: +${plural(event.points, "point")}` : "";
      return { seat, words: `${name(seat)}'s turn${extra}` };
    }
    case "rolled": {
      const dice = event.dice.map((face, i) => ({ face, kept: event.kept[i] ?? false }));
      return { seat, words: `${name(seat)} rolls`, dice };
    }
    case "scored":
      return { seat, words: `${name(seat)} scores ${plural(event.points, "point")}` };
    case "hit": {
      const left = event.health === 0 ? "is out of the game" : `has health ${event.health} left`;
      const words = `${name(event.by)} hits ${name(seat)} for ${event.damage}: it ${left}`;
      return { seat, words, strong: event.health === 0 };
    }
    case "decided":
      return { seat, words: `${name(seat)} ${event.yields ? "leaves Tokyo" : "stays in Tokyo"}` };
    case "healed":
      return { seat, words: `${name(seat)} heals to health ${event.health}` };
    case "entered":
      return { seat, words: `${name(seat)} enters Tokyo: +${plural(event.points, "point")}` };
  }
}

export function infection(event: InfectionEvent, name: (seat: number) => string): Told | undefined {
  switch (event.type) {
    case "met":
    case "told":
      return undefined;
    case "resolved": {
      const [a, b] = event.seats;
      const side = (i: 0 | 1) => {
        const commitment = event.commitments[i];
        if (event.failed[i]) return ` (precaution, but no antibody)`;
        if (commitment.type === "precaution") return ` (precaution)`;
        return commitment.type === "virus" ? ` (${plural(commitment.count, "virus", "viruses")})` : "";
      };
      const changes = ([0, 1] as const)
        .filter((i) => event.effects[i].was !== event.effects[i].is)
        .map((i) => `${name(event.seats[i])} becomes ${event.effects[i].is}`);
      const words = [`${name(a)}${side(0)} meets ${name(b)}${side(1)}`, ...changes].join("; ");
      return { seat: a, words, strong: changes.length > 0 };
    }
    case "antidote": {
      const words = event.effect
        ? `takes the antidote: ${event.effect.was} before, ${event.effect.is} now`
        : "tries the antidote, but has no antibody";
      return { seat: event.seat, words: `${name(event.seat)} ${words}` };
    }
    case "ended":
      return { seat: event.seat, words: `${name(event.seat)} ends the turn` };
    case "turned":
      return { seat: event.seat, words: `${name(event.seat)} turns into a zombie`, strong: true };
    case "met_nobody":
      return { seat: event.seat, words: `${name(event.seat)} met nobody and broke a rule`, strong: true };
    case "announced": {
      const { turns, humans, zombies } = event.report;
      const when = turns === 0 ? "The game begins" : `End of turn ${turns}`;
      return { words: `${when}: ${plural(humans, "human")} and ${plural(zombies, "zombie")}` };
    }
    case "over": {
      const { ending } = event;
      const words = {
        zombies_win: "No human is left: the zombies win",
        survivor_wins:
          ending.type === "survivor_wins" ? `${name(ending.seat)} is the only survivor and wins` : "",
        humans_win: "Time is up: the humans win, ranked by antibodies",
      }[ending.type];
      return { words, strong: true };
    }
  }
}

/** What happened in a step, in order. */
export function happened(film: Film, step: number): Told[] {
  const name = (seat: number) => film.names[seat] ?? `seat ${seat}`;
  const { footage } = film;
  if (!footage) return [];
  switch (footage.game) {
    case "tokyo":
      return (footage.frames[step]?.events ?? []).map((event) => tokyo(event, name));
    case "infection":
      return (footage.frames[step]?.events ?? []).flatMap((event) => infection(event, name) ?? []);
    default:
      return (footage.frames[step]?.events ?? []).map((event) => zombieDice(event, name));
  }
}

/** The steps after which a turn begins. */
export function turnsOf(film: Film): number[] {
  const { footage } = film;
  const begins = (types: string[]) => (frame: { events: { type: string }[] }, step: number) =>
    step > 0 && frame.events.some((event) => types.includes(event.type)) ? [step] : [];
  if (!footage) return [];
  switch (footage.game) {
    case "tokyo":
      return footage.frames.flatMap(begins(["turn_started"]));
    case "infection":
      return footage.frames.flatMap(begins(["announced"]));
    default:
      return footage.frames.flatMap(begins(["turn_ended"]));
  }
}

/** How it ended, in a sentence. */
export function result(film: Film): string {
  const { outcome, names, game } = film;
  if (names.length === 1) return `${names[0]} banks ${plural(outcome.scores[0] ?? 0, "brain")}`;
  if (game === "infection" && film.footage?.game === "infection") {
    const last = film.footage.frames.at(-1)?.events.find((event) => event.type === "over");
    if (last?.type === "over" && last.ending.type === "zombies_win") return "The zombies win";
    if (last?.type === "over" && last.ending.type === "humans_win") return "The humans win";
  }
  const winners = winnersOf(outcome).map((seat) => names[seat]);
  if (winners.length === 1) return `${winners[0]} wins`;
  return winners.length <= 4 ? `${winners.join(" and ")} share the win` : `${winners.length} share the win`;
}

export function winnersOf(outcome: Outcome): number[] {
  return outcome.places.flatMap((place, seat) => (place === 1 ? [seat] : []));
}

/** What a score counts. */
export function scoreWords(game: string, score: number): string {
  if (game.startsWith("zombie-dice")) return plural(score, "brain");
  if (game === "tokyo") return plural(score, "point");
  if (game === "infection") {
    if (score === 0) return "lost";
    return score === 1 ? "won" : `won with ${plural(score - 1, "antibody", "antibodies")}`;
  }
  return `lived to turn ${score}`;
}

/** A value as people read it: `63.2%`, `4.31 points`. */
export function shownValue(value: number, unit: Unit): string {
  return unit === "chance" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
}

/** A difference of values: `+3.2`, `-0.41`. */
export function shownChange(value: number, unit: Unit): string {
  const number = unit === "chance" ? (100 * value).toFixed(1) : value.toFixed(2);
  return `${value > 0 ? "+" : ""}${number}${unit === "chance" ? "%" : ""}`;
}
