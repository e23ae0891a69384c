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

/** Changes the part behind `#` without a new entry in the history. */
export function setHash(hash: string) {
  history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  route.hash = location.hash;
}

/** The number of `#step=N` or `#turn=N`. */
export function numberIn(hash: string, name: "step" | "turn"): number | undefined {
  const text = new URLSearchParams(hash.replace(/^#/, "")).get(name);
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
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
