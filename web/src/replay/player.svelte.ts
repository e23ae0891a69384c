// Plays a film: where it stands, how fast it goes on, and its keys. The address says which step is shown, and the other way round:
// `#step=7`, or `#turn=3` for the step with which a turn begins.
import { untrack } from "svelte";
import type { Keys } from "../lib/keys";
import { numberIn, route, setHash, wordIn } from "../lib/router.svelte";

export interface Tempo {
  /** Steps a second to choose from. */
  speeds: number[];
  speed: number;
  /** Up to this speed one step flows into the next; none where steps are jumps. */
  flows?: number;
}

export interface Reach {
  /** The last step. */
  last: number;
  /** The steps with which turns begin; none where each step is a turn. */
  turns?: number[] | undefined;
  /** Steps that have names: `#moment=luck`. */
  named?: Map<string, number>;
}

/** A single step that flows takes so long, in steps a second. */
const STEP = 7;
/** Browsers do not like an address that changes all the time (milliseconds). */
const TELL = 300;
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Player {
  readonly speeds: number[];
  speed = $state(1);
  playing = $state(false);
  /** Where it stands: between two steps while one flows into the other. */
  position = $state(0);
  /** Whether the step that is shown was reached from the one before, and not by a jump. */
  forward = $state(false);
  /** A single step that is on its way. */
  #bound = $state<number>();
  /** Up to which speed steps flow; -1 where they jump. */
  #most = -1;
  #flows = $derived(this.#most >= 0 && (this.#bound !== undefined || this.speed <= this.#most));
  /** The step that is shown, and how much of the way from the one before is done. */
  step = $derived(this.#flows ? Math.ceil(this.position) : Math.floor(this.position));
  progress = $derived(this.#flows ? this.position - this.step + 1 : 1);
  moving = $derived(this.playing || this.#bound !== undefined);

  readonly last: number;
  /** The steps with which turns begin; none where each step is a turn. */
  readonly turns: number[] | undefined;
  #named: Map<string, number>;
  #told: string | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;

  constructor({ last, turns, named = new Map() }: Reach, { speeds, speed, flows = -1 }: Tempo) {
    [this.last, this.turns, this.#named] = [last, turns, named];
    [this.speeds, this.speed, this.#most] = [speeds, speed, calm ? -1 : flows];
    $effect(() => {
      if (this.moving) return frames((seconds) => this.#advance(seconds));
    });
    $effect(() => {
      const wanted = this.#wanted(route.hash);
      if (wanted === undefined || route.hash === this.#told) return;
      this.#told = route.hash;
      untrack(() => this.go(wanted));
    });
    $effect(() => () => clearTimeout(this.#telling));
  }

  readonly keys: Keys = {
    " ": () => this.toggle(),
    ArrowLeft: ({ shiftKey }) => this.move(shiftKey ? -10 : -1),
    ArrowRight: ({ shiftKey }) => this.move(shiftKey ? 10 : 1),
    ",": () => this.move(-1),
    ".": () => this.move(1),
    Home: () => this.go(0),
    End: () => this.go(this.last),
  };

  /** Shows a step; if it plays, it goes on from there. */
  go(step: number) {
    this.#stand(Math.max(0, Math.min(this.last, Math.round(step))));
  }

  /** Goes so many steps on or back, and stays there. */
  move(by: number) {
    const whole = by < 0 && this.#flows ? Math.ceil : Math.floor;
    const from = this.#bound ?? whole(this.position);
    this.playing = false;
    if (by !== 1 || this.#most < 0) this.go(from + by);
    else this.#stand(from, from < this.last ? from + 1 : undefined);
  }

  toggle() {
    const from = !this.playing && this.step >= this.last ? 0 : this.step;
    this.playing = !this.playing;
    this.#stand(from);
  }

  /** The address of a step of this film. */
  hashOf(step: number): string {
    return `#${this.turns ? "step" : "turn"}=${step}`;
  }

  #wanted(hash: string): number | undefined {
    const named = this.#named.get(wordIn(hash, "moment") ?? "");
    if (named !== undefined) return named;
    const turn = numberIn(hash, "turn");
    if (!this.turns) return turn ?? numberIn(hash, "step");
    return numberIn(hash, "step") ?? (turn === undefined ? undefined : this.#begins(turn));
  }

  /** The step with which a turn begins; turns count from 1. */
  #begins(turn: number): number {
    return turn <= 1 ? 0 : (this.turns?.[turn - 2] ?? this.last);
  }

  #advance(seconds: number) {
    const to = this.#bound ?? this.last;
    const next = this.position + seconds * (this.#bound === undefined ? this.speed : STEP);
    if (next < to) return this.#stand(next, this.#bound);
    this.playing = false;
    this.#stand(to);
  }

  #stand(position: number, bound?: number) {
    const before = this.step;
    [this.position, this.#bound] = [position, bound];
    if (this.step === before) return;
    this.forward = this.step === before + 1;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#told = this.hashOf(this.step);
      setHash(this.#told);
    }, TELL);
  }
}

/** Calls `pass` for every picture with the time since the last one. Gives a function that ends it. */
function frames(pass: (seconds: number) => void): () => void {
  let last = performance.now();
  let request = requestAnimationFrame(function frame(now) {
    // After a pause of the browser it goes on where it was.
    const passed = Math.max(0, Math.min(250, now - last));
    last = now;
    request = requestAnimationFrame(frame);
    pass(passed / 1000);
  });
  return () => cancelAnimationFrame(request);
}
