// Dark or light: what the reader chose here, else what the system prefers.

type Theme = "dark" | "light";

const prefersLight = matchMedia("(prefers-color-scheme: light)");

function chosen(): Theme {
  const kept = storage()?.getItem("theme");
  if (kept === "dark" || kept === "light") return kept;
  return prefersLight.matches ? "light" : "dark";
}

/** Pages that open from disk may have no storage. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export const theme = $state<{ name: Theme }>({ name: chosen() });

export function applyTheme() {
  document.documentElement.dataset.theme = theme.name;
}

export function toggleTheme() {
  theme.name = theme.name === "dark" ? "light" : "dark";
  storage()?.setItem("theme", theme.name);
  applyTheme();
}

// Systems change it at nightfall.
prefersLight.addEventListener("change", () => {
  theme.name = chosen();
  applyTheme();
});
applyTheme();
