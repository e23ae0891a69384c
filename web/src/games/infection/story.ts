// A film of Infection holds only what changes. This puts the party together again, for any step.
import type { Frame, InfectionEvent, InfectionScene, PlayerNow } from "../../lib/schema";
import type { Contact } from "./circle";

/** The whole party is kept once in so many steps. */
const KEPT = 100;

export class Story {
  readonly #frames: Frame[];
  readonly #kept: PlayerNow[][] = [];
  readonly #contacts: Contact[] = [];
  /** How many contacts there were after each step. */
  readonly #met: number[] = [];

  constructor(frames: Frame[]) {
    this.#frames = frames;
    let players: PlayerNow[] = [];
    let turn = 0;
    frames.forEach((frame, step) => {
      players = changed(players, frame);
      if (step % KEPT === 0) this.#kept.push(players);
      for (const event of frame.events as InfectionEvent[]) {
        if (event.type !== "resolved") continue;
        const [a, b] = event.seats;
        const fell = event.effects.findIndex((effect) => effect.was === "human" && effect.is === "infected");
        this.#contacts.push({ a, b, turn, victim: fell < 0 ? undefined : event.seats[fell] });
      }
      this.#met.push(this.#contacts.length);
      turn = sceneOf(frame).turns;
    });
  }

  playersAt(step: number): PlayerNow[] {
    const from = Math.floor(step / KEPT);
    let players = this.#kept[from] ?? [];
    for (let i = from * KEPT + 1; i <= step; i++) {
      const frame = this.#frames[i];
      if (frame) players = changed(players, frame);
    }
    return players;
  }

  contactsAt(step: number): Contact[] {
    return this.#contacts.slice(0, this.#met[step] ?? 0);
  }
}

export const sceneOf = (frame: Frame) => frame.scene as unknown as InfectionScene;

function changed(players: PlayerNow[], frame: Frame): PlayerNow[] {
  const next = [...players];
  for (const player of sceneOf(frame).changed) next[player.seat] = player;
  return next;
}
