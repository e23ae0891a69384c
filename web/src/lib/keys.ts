// The keyboard, for all pages: a key does what the page says, unless what has the focus needs it.

/** What keys do, by their names (`event.key`, letters small) or by their places (`event.code`). */
export type Keys = Record<string, (event: KeyboardEvent) => void>;

interface Where {
  /** Also while a key is held down. */
  held?: boolean;
  /** Only if the focus is in here, or nowhere. */
  room?: HTMLElement | undefined;
}

const FIELDS = "select, textarea, input:not([type=range], [type=checkbox], [type=radio]), [contenteditable]";
const BUTTONS = "button, a, summary, [role=button]";
const SWITCHES = "input:not([type=range])";

/** Does what a key is for, if anything. */
export function press(event: KeyboardEvent, keys: Keys, { held = false, room }: Where = {}) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.repeat && !held) return;
  const focus = event.target instanceof Element ? event.target : document.body;
  const nowhere = focus === document.body || focus.tagName === "MAIN";
  if (room && !nowhere && !room.contains(focus)) return;
  if (focus.closest(FIELDS)) return;
  if ((event.key === " " || event.key === "Enter") && focus.closest(BUTTONS)) return;
  if (event.key === " " && focus.closest(SWITCHES)) return;
  const act = keys[event.code] ?? keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
}
