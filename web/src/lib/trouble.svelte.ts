// What went wrong with what somebody did on a live page.
import { wordsOf } from "./api";
import type { Live } from "./live.svelte";

export class Trouble {
  words = $state("");
  /** Whether it was the connection: then it is over when news arrive again. */
  #unsent = false;

  /** For the page that follows this value. */
  constructor(live: Pick<Live<unknown>, "opened">) {
    $effect(() => {
      if (live.opened > 0 && this.#unsent) this.clear();
    });
  }

  note(error: unknown) {
    this.#unsent = error instanceof TypeError;
    this.words = this.#unsent
      ? "That was not sent: the arena cannot be reached. Try again in a moment."
      : wordsOf(error);
  }

  clear() {
    [this.words, this.#unsent] = ["", false];
  }
}
