// A real arena and a real browser for the tests: starts the binary on a free port, opens pages, and notes every complaint
// that a page makes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const here = import.meta.dirname;
/** The binary under test. */
export const necrodome = path.resolve(
  process.env.NECRODOME ?? path.join(here, "../../target/debug/necrodome"),
);
const shots = path.join(here, "screenshots");
const wantsPictures = Boolean(process.env.NECRODOME_SHOTS);

/** A folder that is gone when the process ends. */
export function scratch() {
  const folder = mkdtempSync(path.join(tmpdir(), "necrodome-e2e-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts an arena; `store` and `port` are those of an earlier one when it comes back. */
export async function startArena({
  store = path.join(scratch(), "arena.sqlite"),
  port = 0,
  samples = false,
  args = [],
} = {}) {
  const words = [
    "serve",
    "--port",
    String(port),
    "--store",
    store,
    "--rate",
    "5000",
    ...(samples ? [] : ["--no-samples"]),
    ...args,
  ];
  const child = spawn(necrodome, words, { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const said = [];
  child.stderr.on("data", (data) => said.push(String(data)));
  const host = await new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the arena ended with ${code}: ${said.join("")}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const link = /(http:\S+\/host\/\S+)/.exec(line)?.[1];
      if (link) resolve(link);
    });
  });
  const url = new URL(host).origin;
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  };
  return {
    url,
    host,
    store,
    port: Number(new URL(url).port),
    said,
    /** Ends it politely. */
    stop: () => end("SIGTERM"),
    /** Ends it in the middle of whatever it does. */
    kill: () => end("SIGKILL"),
  };
}

/** Debian's chromium. */
export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}

/**
 * A browser of its own for one person. `problems` collects what no page may do: errors on the console, exceptions, answers
 * that were not expected. `expected` names those that the test provokes.
 */
export async function visitor(browser, { width = 1280, height = 800, host, expected = [], ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce", ...more });
  // A busy machine is slow, not wrong.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const problems = [];
  const note = (text) => {
    if (!expected.some((one) => text.includes(one))) problems.push(`${page.url()}: ${text}`);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") note(message.text());
  });
  page.on("pageerror", (error) => note(String(error)));
  if (host) await page.goto(host);
  return { page, context, problems, close: () => context.close() };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong on the page as it is now: a line for each element, under a name that stays when numbers change. */
async function faults(page, rules) {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const found = await page.evaluate(async (rules) => {
    const runOnly = rules && { type: "rule", values: rules };
    const result = await window.axe.run(document, {
      resultTypes: ["violations"],
      ...(runOnly && { runOnly }),
    });
    return result.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html, failureSummary }) => [
        `${id} ${target.join(" ")}`,
        `${id}: ${help} (${html.slice(0, 160)}): ${failureSummary}`,
      ]),
    );
  }, rules);
  return new Map(found);
}

/**
 * Fails on every problem that axe-core finds on the page; `rules` are all of axe unless some are named. A page that lives changes
 * while axe looks at it: a fault is what is found twice.
 */
export async function assertAccessible(page, what = page.url(), rules = undefined) {
  const first = await faults(page, rules);
  if (first.size === 0) return;
  const second = await faults(page, rules);
  const both = [...first].filter(([name]) => second.has(name)).map(([, words]) => words);
  assert.deepEqual(both, [], `accessibility of ${what}`);
}

/** Nothing may be wider than the window: a page that scrolls sideways is unusable on a phone. */
export async function assertFits(page, what = page.url()) {
  const [content, room] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= room, `${what} is ${content} px wide in a window of ${room} px`);
}

const sizes = { desk: [1280, 800], phone: [360, 740], tablet: [768, 1024], projector: [1920, 1080] };
/** How a page is looked at. What does not depend on colours is the same in both themes. */
const looks = [
  { size: sizes.desk, theme: "light" },
  { size: sizes.desk, theme: "dark", rules: ["color-contrast"] },
  { size: sizes.phone, theme: "dark" },
  { size: sizes.phone, theme: "light", rules: ["color-contrast"] },
];
const everywhere = Object.values(sizes).flatMap((size) =>
  ["light", "dark"].map((theme) => ({ size, theme })),
);

/** Keeps a picture of the page, if NECRODOME_SHOTS is set. */
export async function picture(page, name, more) {
  if (!wantsPictures) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`), ...more });
}

/** Waits until the page is drawn: what depends on the size of the window follows then, even if the page's clock is stopped. */
export const drawn = (page) => page.screenshot({ clip: { x: 0, y: 0, width: 1, height: 1 } });

/** Checks the page on a desk and on a phone, in both themes; with NECRODOME_SHOTS=1 in four sizes, and keeps pictures. */
export async function inspect(page, name) {
  const before = page.viewportSize();
  for (const { size, theme, rules } of wantsPictures ? everywhere : looks) {
    const [width, height] = size;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    // Sizes and colours follow with the next picture.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    // Reports have no theme of their own to choose.
    await page.locator(`:root:not([data-theme]), [data-theme=${theme}]`).waitFor({ state: "attached" });
    const what = `${name} at ${width} px, ${theme}`;
    if (!rules) await assertFits(page, what);
    await assertAccessible(page, what, rules);
    await picture(page, `${name}-${width}-${theme}`, { fullPage: true });
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
}
