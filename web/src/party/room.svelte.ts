// A room as this browser may see it, kept up to date.
import { post } from "../lib/api";
import { Live } from "../lib/live.svelte";
import type {
  Announcement,
  Board,
  HostOrder,
  HostView,
  PartyView,
  SeatAction,
  SeatView,
} from "../lib/schema";
import { count } from "../lib/words";

export class LiveRoom extends Live<PartyView> {
  board = $state<Board>();
  ended = $state<number[]>([]);
  /** Those whose page is open nowhere; known to the wall and to the host. */
  away = $state<number[]>([]);
  /** When the turn ends for everybody, by the server's clock. */
  turnDeadline = $state<number>();
  seat = $state<SeatView>();
  host = $state<HostView>();

  constructor(
    readonly id: string,
    as?: "wall",
  ) {
    super(`/api/party/${encodeURIComponent(id)}`, as && `?as=${as}`);
  }

  /** The board comes only when it has changed. */
  protected override take(view: PartyView) {
    if (view.board) this.board = view.board;
    this.ended = view.ended;
    this.away = view.away;
    this.turnDeadline = view.turn_deadline ?? undefined;
    this.seat = view.seat ?? undefined;
    this.host = view.host ?? undefined;
  }

  act(action: SeatAction): Promise<void> {
    return post(`${this.path}/act`, action);
  }

  order(order: HostOrder): Promise<void> {
    return post(`${this.path}/host`, order);
  }

  name(number: number): string {
    return this.board?.players.find((player) => player.number === number)?.name ?? "somebody";
  }

  /** Their names; of many only the first. */
  names(numbers: number[], most = numbers.length): string {
    return some(
      numbers.map((number) => this.name(number)),
      most,
    );
  }
}

/** `a, b and 3 others`: of many only the first. */
export function some(words: string[], most: number): string {
  const rest = words.length - most;
  return list(rest > 0 ? [...words.slice(0, most), count(rest, "other")] : words);
}

/** As many names as a line or two can hold, on any screen. */
export function brief(names: string[]): string {
  const LETTERS = 120;
  let most = 0;
  for (let letters = 0; most < names.length; most++) {
    letters += names[most]!.length + 2;
    if (letters > LETTERS) break;
  }
  return some(names, Math.max(1, most));
}

/** `a, b and c` */
export function list(words: string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** What was announced, in one sentence. */
export function announcement({ report }: Announcement): string {
  const humans = count(report.humans, "human");
  const zombies = count(report.zombies, "zombie");
  return `${humans}, ${zombies}. The most antibodies anybody has: ${report.most_antibodies}, the most viruses: ${report.most_viruses}.`;
}

export function endingWords(room: LiveRoom): string {
  const result = room.board?.result;
  if (!result) return "";
  if (result.ending === "zombies_win") return "No human is left: the zombies win";
  if (result.ending === "survivor_wins") {
    return `${room.names(result.winners.map((winner) => winner.player))} is the only human left, and wins`;
  }
  return "The last turn is over: the humans win";
}
