// A room as this browser may see it, kept up to date.
import { follow, post } from "../lib/api";
import type {
  Announcement,
  Board,
  HostOrder,
  HostView,
  PartyView,
  SeatAction,
  SeatView,
} from "../lib/schema";

export class LiveRoom {
  board = $state<Board>();
  ended = $state<number[]>([]);
  seat = $state<SeatView>();
  host = $state<HostView>();
  /** Whether news arrive; unknown at first. */
  connected = $state<boolean>();
  /** Why the room cannot be shown at all. */
  missing = $state(false);
  /** The server's clock less ours, in milliseconds. */
  skew = $state(0);

  readonly path: string;
  readonly #as: string;
  #stop: (() => void) | undefined;
  #ended = false;

  constructor(
    readonly id: string,
    as?: "wall",
  ) {
    this.path = `/api/party/${encodeURIComponent(id)}`;
    this.#as = as ? `?as=${as}` : "";
  }

  /** Begins to follow the room; gives the function that ends it. */
  start(): () => void {
    this.#connect();
    void this.#look();
    // A phone that was locked may not notice that its connection is gone.
    const wake = () => {
      if (document.visibilityState === "visible") this.reconnect();
    };
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    return () => {
      this.#ended = true;
      this.#stop?.();
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
    };
  }

  /** Follows it anew, as whoever this browser is by now. */
  reconnect() {
    if (this.#ended) return;
    this.#stop?.();
    this.#connect();
  }

  #connect() {
    this.#stop = follow<PartyView>(
      `${this.path}/stream${this.#as}`,
      (view) => this.#take(view),
      (is) => {
        if (this.connected !== false && !is) void this.#look();
        this.connected = is;
      },
    );
  }

  #take(view: PartyView) {
    if (view.board) this.board = view.board;
    this.ended = view.ended;
    this.seat = view.seat ?? undefined;
    this.host = view.host ?? undefined;
  }

  /** Asks once: for the server's clock, and whether there is such a room. */
  async #look() {
    try {
      const response = await fetch(this.path + this.#as);
      const date = Date.parse(response.headers.get("date") ?? "");
      if (!Number.isNaN(date)) this.skew = date + 500 - Date.now();
      this.missing = response.status === 404;
      if (response.ok) this.#take((await response.json()) as PartyView);
      if (this.missing) this.#stop?.();
    } catch {
      // The stream tells that there is no connection, and comes back by itself.
    }
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

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
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
