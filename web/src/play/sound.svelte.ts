// A few sounds, made on the spot and silent until somebody asks for them: dice, bad news, a turn of one's own, a win.

const KEPT = "table sound";

class Sound {
  #on = $state(localStorage.getItem(KEPT) === "on");
  #context: AudioContext | undefined;

  get on(): boolean {
    return this.#on;
  }

  set on(on: boolean) {
    this.#on = on;
    localStorage.setItem(KEPT, on ? "on" : "off");
    if (on) this.asked();
  }

  /** Dice on wood: a few short clicks, each a little softer. */
  dice() {
    for (let i = 0; i < 5; i++) this.#click(i * 0.07 + Math.random() * 0.03, 0.25 - i * 0.03);
  }

  /** Bad news: a note that falls. */
  bad() {
    this.#note(220, 0, 0.5, "sawtooth", 55);
  }

  /** Something happened. */
  tick() {
    this.#click(0, 0.12);
  }

  /** One is asked: two notes up. */
  asked() {
    this.#note(523, 0, 0.12);
    this.#note(784, 0.1, 0.2);
  }

  /** The end, for who has won. */
  won() {
    [523, 659, 784, 1047].forEach((pitch, i) => this.#note(pitch, i * 0.12, 0.3));
  }

  /** A note (Hz) from a moment (seconds from now) for a while, which may slide to another pitch. */
  #note(pitch: number, from: number, length: number, type: OscillatorType = "triangle", to = pitch) {
    this.#play(from, length, 0.12, (context, start) => {
      const tone = new OscillatorNode(context, { type, frequency: pitch });
      tone.frequency.exponentialRampToValueAtTime(to, start + length);
      return tone;
    });
  }

  /** A very short noise. */
  #click(from: number, loud: number) {
    this.#play(from, 0.05, loud, (context) => {
      const noise = context.createBuffer(1, context.sampleRate / 20, context.sampleRate);
      const wave = noise.getChannelData(0);
      wave.forEach((_, i) => (wave[i] = (Math.random() * 2 - 1) * Math.exp(-i / 120)));
      return new AudioBufferSourceNode(context, { buffer: noise });
    });
  }

  #play(
    from: number,
    length: number,
    loud: number,
    source: (context: AudioContext, start: number) => AudioScheduledSourceNode,
  ) {
    // Browsers keep a page silent until its reader has done something.
    if (!this.#on || !navigator.userActivation.hasBeenActive) return;
    const context = (this.#context ??= new AudioContext());
    const start = context.currentTime + from;
    const gain = new GainNode(context, { gain: loud });
    gain.gain.setValueAtTime(loud, start);
    gain.gain.exponentialRampToValueAtTime(0.001, start + length);
    const node = source(context, start);
    node.connect(gain).connect(context.destination);
    node.start(start);
    node.stop(start + length);
  }
}

export const sound = new Sound();
