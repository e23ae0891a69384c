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

  names(numbers: number[]): string {
    return list(numbers.map((number) => this.name(number)));
  }
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
