// Which page is shown: the path of the address. Links inside the site do not load the page again.

export const route = $state({ path: location.pathname, query: location.search, hash: location.hash });

// Pages come with what they show a moment later, so the place on the page is brought back here and not by the browser.
history.scrollRestoration = "manual";

/** Where on the page the reader was, for when they come back. */
function keepPlace() {
  history.replaceState({ ...(history.state as object | null), top: window.scrollY }, "");
}

/** Goes there as soon as the page is long enough, unless the reader moves first. */
function comeBack(top: number) {
  const stop = () => {
    watching.disconnect();
    clearTimeout(late);
    for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) removeEventListener(event, stop);
  };
  const look = () => {
    window.scrollTo(0, top);
    if (Math.abs(window.scrollY - top) < 2) stop();
  };
  const watching = new ResizeObserver(look);
  const late = setTimeout(stop, 5000);
  for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(event, stop);
  watching.observe(document.body);
}

function read() {
  route.path = location.pathname;
  route.query = location.search;
  route.hash = location.hash;
}

/** What is asked before the page is left, with what then leaves it. */
let asks: ((leave: () => void) => void) | undefined;

/** From now on nobody leaves this page without being asked. Gives the function that ends it. */
export function guard(ask: (leave: () => void) => void): () => void {
  asks = ask;
  return () => {
    if (asks === ask) asks = undefined;
  };
}

/** Goes to another page. */
export function go(address: string) {
  if (asks) return asks(() => leave(address));
  leave(address);
}

/** Goes to another page, and asks nobody. */
function leave(address: string) {
  asks = undefined;
  keepPlace();
  history.pushState(null, "", address);
  read();
  window.scrollTo(0, 0);
  // Whoever listens instead of looking hears where the new page begins.
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/** Changes the address of this page without a new entry in the history. */
export function replace(address: string) {
  history.replaceState(history.state, "", address);
  read();
}

/** Changes the part behind `?` without a new entry in the history; what is empty is left out. */
export function setQuery(values: Record<string, string>) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
  history.replaceState(history.state, "", location.pathname + (query && `?${query}`) + location.hash);
  route.query = location.search;
}

/** Changes the part behind `#` without a new entry in the history. */
export function setHash(hash: string) {
  history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : hash);
  route.hash = location.hash;
}

/** The word of `#moment=luck`. */
export function wordIn(hash: string, name: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get(name);
}

/** The number of `#step=N` or `#turn=N`. */
export function numberIn(hash: string, name: "step" | "turn"): number | undefined {
  const text = wordIn(hash, name);
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

window.addEventListener("popstate", (event) => {
  const leaves = location.pathname !== route.path;
  if (leaves && asks) {
    // The browser has gone already: this page is put on top again until there is an answer.
    history.pushState(null, "", route.path + route.query + route.hash);
    return asks(() => {
      asks = undefined;
      history.back();
    });
  }
  read();
  if (leaves) comeBack((event.state as { top?: number } | null)?.top ?? 0);
});
window.addEventListener("hashchange", read);
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
  if (link.pathname === location.pathname && link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
