// What a page shows of the server as it changes: a table, a tournament, a party.
import { read, RefusedError, wordsOf } from "./api";

/** After a refusal (too many viewers, a server that restarts) it is tried again so much later. */
const RETRY = 1500;

/**
 * A value of the server, kept up to date. The browser comes back by itself when the connection is lost, and the server then begins
 * with the value of that moment, so nothing is missed. `onMount(() => live.start())` follows it until the page is left.
 */
export class Live<T> {
  value = $state.raw<T>();
  /** Whether news arrive; unknown at first. */
  connected = $state<boolean>();
  /** How often news have begun to arrive. */
  opened = $state(0);
  /** Why it cannot be shown for now. */
  problem = $state("");
  /** Why it will never be shown: the server does not have it. */
  gone = $state("");
  /** The server's clock less ours, in milliseconds. */
  skew = $state(0);

  #source: EventSource | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #left = false;

  constructor(
    readonly path: string,
    private readonly query = "",
    /** Whether a value is the last. */
    private readonly isLast: (value: T) => boolean = () => false,
  ) {}

  protected take(value: T) {
    this.value = value;
  }

  /** Begins to follow; gives the function that ends it. */
  start(): () => void {
    // Asked once the plain way: a stream cannot say what is wrong.
    void this.look().then(() => this.reconnect());
    // A phone that was locked may not notice that its connection is gone.
    const wake = () => {
      if (document.visibilityState === "visible") this.reconnect();
    };
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    return () => {
      this.#left = true;
      this.#close();
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
    };
  }

  /** Follows it anew, as whoever this browser is by now. */
  reconnect() {
    this.#close();
    if (this.#left || this.gone || (this.value !== undefined && this.isLast(this.value))) return;
    const source = new EventSource(`${this.path}/stream${this.query}`);
    this.#source = source;
    source.onopen = () => {
      this.connected = true;
      this.opened += 1;
    };
    source.onmessage = (event: MessageEvent<string>) => {
      [this.connected, this.problem] = [true, ""];
      this.take(JSON.parse(event.data) as T);
    };
    source.onerror = () => {
      this.connected = false;
      // What was cleared does not come back.
      void this.look();
      if (source.readyState === EventSource.CLOSED) this.#retry = setTimeout(() => this.reconnect(), RETRY);
    };
  }

  /** Asks once. */
  async look() {
    try {
      const response = await fetch(this.path + this.query);
      const clock = Number(response.headers.get("necrodome-clock"));
      if (clock) this.skew = clock - Date.now();
      this.take(await read<T>(response));
      this.problem = "";
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) {
        this.gone = wordsOf(error);
        this.#close();
      } else this.problem = wordsOf(error);
    }
  }

  #close() {
    clearTimeout(this.#retry);
    this.#source?.close();
  }
}
