// A table as its viewer sees it. What happens there arrives in a moment, and is played before their eyes: one beat after the other,
// at a pace that they choose.
import { Live } from "../lib/live.svelte";
import type { Beat, TableState, Told } from "../lib/schema";
import { isOver, peopleOf, wasOpened } from "./table";

/** How long a beat is shown, in milliseconds. */
export const PACES = { calm: 1500, usual: 800, brisk: 350, instant: 0 };
export type Pace = keyof typeof PACES;

/** Bad news are shown so much longer: a roll that cost everything wants to be looked at. */
const BAD = 2.5;
const PACE = "table pace";
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

function ownPace(): Pace {
  const pace = localStorage.getItem(PACE) ?? "";
  return pace in PACES ? (pace as Pace) : "usual";
}

export class ShownTable extends Live<TableState> {
  #pace = $state<Pace>(calm ? "instant" : ownPace());
  /** What is still to be played; the first is being shown. */
  #queue = $state.raw<Beat[]>([]);
  /** The last beat that was shown, or was over when the viewer came; none before they have seen anything. */
  #seen: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether the viewer may choose a pace: who wants no motion sees how it ended at once. */
  readonly paced = !calm;
  beat = $derived(this.#queue[0]);
  /** The table as it was at the beat that is shown; as it is if there is none. */
  shown = $derived(this.value && this.beat ? at(this.value, this.#queue) : this.value);

  constructor(path: string) {
    // After a match with others it is worth waiting for a rematch.
    super(path, "", (table) => isOver(table) && (peopleOf(table) < 2 || table.you === null));
  }

  get pace(): Pace {
    return this.#pace;
  }

  set pace(pace: Pace) {
    this.#pace = pace;
    localStorage.setItem(PACE, pace);
    clearTimeout(this.#timer);
    this.#hold();
  }

  /** Shows how it is now. */
  skip() {
    clearTimeout(this.#timer);
    this.#queue = [];
  }

  override start() {
    const end = super.start();
    return () => {
      end();
      this.skip();
    };
  }

  protected override take(table: TableState) {
    const waits = this.#queue.length > 0;
    this.value = table;
    const { heard, beats } = table.scene ?? { heard: 0, beats: [] };
    this.#seen ??= wasOpened(table.id) ? 0 : heard;
    const seen = this.#seen;
    this.#seen = heard;
    if (PACES[this.#pace] === 0) return;
    this.#queue = [...this.#queue, ...beats.filter((beat) => beat.number > seen)];
    if (!waits) this.#hold();
  }

  /** Shows the first beat for its time, and then the next. */
  #hold() {
    const beat = this.#queue[0];
    const scene = this.value?.scene;
    if (!beat || !scene) return;
    const time = PACES[this.#pace];
    // The last picture is what the table shows anyway, and who is asked must not wait for it.
    const isLast = this.#queue.length === 1 && JSON.stringify(beat.view) === JSON.stringify(scene.view);
    if (isLast || time === 0) return this.skip();
    const isBad = linesOf(beat, this.shown).some((line) => line.text.some((span) => span.ink === "bad"));
    this.#timer = setTimeout(
      () => {
        this.#queue = this.#queue.slice(1);
        this.#hold();
      },
      time * (isBad ? BAD : 1),
    );
  }
}

/** What is told of a beat while it is shown. */
export function linesOf({ told }: Beat, shown: TableState | undefined): Told[] {
  return told > 0 ? (shown?.scene?.told.slice(-told) ?? []) : [];
}

/** The table as it was at the first of these beats. */
function at(table: TableState, [beat, ...later]: Beat[]): TableState {
  const scene = table.scene;
  if (!scene || !beat) return table;
  const ahead = later.reduce((lines, beat) => lines + beat.told, 0);
  const told = scene.told.slice(0, Math.max(0, scene.told.length - ahead));
  const mover = told.at(-1)?.seat;
  return {
    ...table,
    phase: "playing",
    question: null,
    outcome: null,
    scores: null,
    seats: table.seats.map((seat, i) => ({ ...seat, to_act: i === mover })),
    scene: {
      ...scene,
      told,
      fresh: Math.max(0, scene.fresh - ahead),
      view: beat.view as typeof scene.view,
      situation: null,
      legal: null,
    },
  };
}
