// Which page is shown: the path of the address. Links inside the site do not load the page again.

export const route = $state({ path: location.pathname, query: location.search, hash: location.hash });

function read() {
  route.path = location.pathname;
  route.query = location.search;
  route.hash = location.hash;
}

/** Goes to another page. */
export function go(address: string) {
  history.pushState(null, "", address);
  read();
  window.scrollTo(0, 0);
  // Whoever listens instead of looking hears where the new page begins.
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/** Changes the address of this page without a new entry in the history. */
export function replace(address: string) {
  history.replaceState(null, "", address);
  read();
}

/** Changes the part behind `#` without a new entry in the history. */
export function setHash(hash: string) {
  history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  route.hash = location.hash;
}

/** The number of `#turn=N`. */
export function turnOf(hash: string): number | undefined {
  const turn = new URLSearchParams(hash.replace(/^#/, "")).get("turn");
  return turn !== null && /^\d+$/.test(turn) ? Number(turn) : undefined;
}

window.addEventListener("popstate", read);
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
