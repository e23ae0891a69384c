// The second tap of a double tap is not meant for what has come under the finger in between: a sheet, another sheet, the page behind it.

/** Milliseconds and pixels between the taps of a double tap. */
const [QUICK, NEAR] = [400, 24];
/** A click that a label passes on comes at once. */
const SAME = 30;

let last: { time: number; x: number; y: number; on: Element | null } | undefined;

const control = ({ target }: Event) =>
  target instanceof Element ? (target.closest("button, a, label, input, select, summary") ?? target) : null;

/** Stops such a click. For every click, before anything else hears of it. */
export function guard(event: MouseEvent) {
  // Keys make clicks, too, and a mouse shows what it points at.
  if (event.detail === 0 || (event as PointerEvent).pointerType === "mouse") return;
  const now = { time: event.timeStamp, x: event.clientX, y: event.clientY, on: control(event) };
  if (last && now.on !== last.on) {
    const [pause, way] = [now.time - last.time, Math.hypot(now.x - last.x, now.y - last.y)];
    if (pause > SAME && pause < QUICK && way < NEAR) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
  }
  last = now;
}
