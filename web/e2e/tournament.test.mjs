// Tournaments from the page: started, watched to the end, reloaded in the middle, seen by a second viewer, killed and resumed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { inspect, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

const bots = path.resolve(import.meta.dirname, "../../bots");
const list = path.join(scratch(), "bots.toml");
writeFileSync(
  list,
  [
    `[[bot]]\nname = "snake"\nrun = "${bots}/python/zombie_dice.py"\n`,
    `[[bot]]\nname = "clumsy"\nrun = "${bots}/misbehaving/crash.py"\ngames = ["zombie-dice"]\n`,
  ].join("\n"),
);

let arena, browser;
before(async () => {
  [arena, browser] = await Promise.all([startArena({ args: ["--bots", list] }), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** Fills in the form and starts; gives the address of the tournament. */
async function start(page, { game, blocks }) {
  await page.goto(`${arena.url}/tournaments/new`);
  await page.getByRole("combobox", { name: "Game", exact: true }).selectOption(game);
  await page.getByRole("spinbutton", { name: /^Blocks/ }).fill(String(blocks));
  await page.getByLabel("Seed").fill("7");
  await page.getByRole("button", { name: "Start the tournament" }).click();
  await page.waitForURL(/\/tournaments\/\d+$/);
  return page.url();
}

const state = (page, words) => page.locator(".sub .chip", { hasText: words });

test("a tournament is started from the page and watched to the end, by two", async () => {
  const host = await visitor(browser, { host: arena.host });
  const guest = await visitor(browser);
  await host.page.goto(`${arena.url}/tournaments/new`);
  await host.page.getByText("Options of the rules").first().click();
  await inspect(host.page, "tournament-new");
  const address = await start(host.page, { game: "zombie-dice-race", blocks: 4000 });
  await guest.page.goto(address);
  for (const { page } of [host, guest]) {
    await state(page, "finished").waitFor();
    await page.getByText("4,000 of 4,000 blocks").waitFor();
    await page.getByRole("heading", { name: "Standings" }).waitFor();
  }
  const standings = (page) => page.locator("ol > li .who strong").allTextContents();
  assert.equal((await standings(host.page)).length, 4, "the line-up of the game");
  assert.deepEqual(await standings(host.page), await standings(guest.page));
  const shares = await guest.page
    .getByRole("region", { name: "Who beats whom" })
    .locator("td")
    .allTextContents();
  assert.equal(shares.filter((share) => share.endsWith("%")).length, 12);
  assert.ok((await guest.page.locator(".frame canvas").boundingBox()).width > 200, "the ratings are drawn");
  await guest.page.getByRole("button", { name: "Rating", exact: true }).click();
  await inspect(guest.page, "tournament");

  await guest.page.getByRole("button", { name: "Last", exact: true }).click();
  await guest.page.getByRole("link", { name: "Watch match 3999.11" }).click();
  await guest.page.waitForURL(/matches\/3999\/11$/);
  await guest.page.getByRole("heading").first().waitFor();

  // Searched and sorted; the way leads on in the same order, and back to the same place.
  await guest.page.goto(address);
  const listed = guest.page.getByRole("region", { name: "Matches" });
  await guest.page.getByLabel("Entry").selectOption("greedy");
  await guest.page.getByLabel("Result").selectOption("won");
  await guest.page.getByRole("button", { name: /^Turns/ }).click();
  await guest.page.waitForURL(/entry=greedy&result=won&sort=turns$/);
  const turnsOf = async () => {
    const cells = await listed.locator("tbody tr td:nth-child(3)").allTextContents();
    return cells.map(Number);
  };
  await guest.page.waitForFunction(() => document.querySelector("th[aria-sort]")?.ariaSort === "descending");
  await guest.page.getByText(/^1 to 12 of (?!48,000)/).waitFor();
  const turns = await turnsOf();
  assert.deepEqual(
    turns,
    turns.toSorted((a, b) => b - a),
  );
  await guest.page.getByRole("button", { name: "Later", exact: true }).click();
  await guest.page.getByText(/^13 to 24/).waitFor();
  const links = await listed.getByRole("link").evaluateAll((all) => all.map((one) => one.pathname));
  await listed.getByRole("link").nth(4).scrollIntoViewIfNeeded();
  const scrolled = await guest.page.evaluate(() => window.scrollY);
  assert.ok(scrolled > 200);
  await listed.getByRole("link").nth(4).click();
  await guest.page.waitForURL((url) => url.pathname === links[4]);
  await guest.page.getByRole("link", { name: "Next match" }).click();
  await guest.page.waitForURL((url) => url.pathname === links[5]);
  await guest.page.getByRole("link", { name: "Previous match" }).click();
  await guest.page.waitForURL((url) => url.pathname === links[4]);
  await guest.page.getByRole("heading", { level: 1 }).waitFor();
  for (let i = 0; i < 3; i++) await guest.page.goBack();
  await guest.page.getByText(/^13 to 24/).waitFor();
  assert.equal(await guest.page.getByLabel("Entry").inputValue(), "greedy");
  await guest.page.waitForFunction((top) => Math.abs(window.scrollY - top) < 40, scrolled);

  // The moments lead into the films, to the step that they are about.
  const moments = guest.page.getByRole("region", { name: "Moments" });
  await moments.getByRole("button", { name: "Worst decisions" }).click();
  const worst = moments.getByRole("link").first();
  assert.equal(await moments.getByRole("link").count(), 5);
  await worst.click();
  await guest.page.waitForURL(/matches\/\d+\/\d+#moment=mistakes$/);
  await guest.page.locator(".verdict.costly").waitFor();
  const named = guest.page.getByRole("link", { name: /^Worst decision/ });
  assert.equal(await named.getAttribute("aria-current"), "step");
  await guest.page.getByRole("link", { name: /^Luckiest roll/ }).click();
  await guest.page.waitForURL(/#moment=luck$/);
  await guest.page.getByRole("link", { name: /^Luckiest roll/, current: "step" }).waitFor();
  await inspect(guest.page, "match-moments");

  await guest.page.goto(arena.url);
  await guest.page.getByRole("heading", { name: "Recent tournaments" }).waitFor();
  await inspect(guest.page, "home");
  await guest.page.goto(`${arena.url}/tournaments`);
  await guest.page.locator("a.line").first().waitFor();
  await inspect(guest.page, "tournaments");
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("a long one survives a reload, a pause, and a kill of the arena", async () => {
  // A lost connection is what this test provokes.
  const expected = ["ERR_CONNECTION", "ERR_INCOMPLETE", "Failed to load resource", "ERR_EMPTY"];
  const host = await visitor(browser, { host: arena.host, expected });
  const guest = await visitor(browser, { expected });
  const address = await start(host.page, { game: "tokyo", blocks: 9_000_000 });
  await guest.page.goto(address);
  const played = async (page) => {
    const text = await page.getByText(/ of 9,000,000 blocks/).textContent();
    return Number(text.split(" ")[0].replaceAll(",", ""));
  };
  await host.page.getByRole("heading", { name: "Standings" }).waitFor();
  const before = await played(host.page);
  await host.page.reload();
  await state(host.page, "running").waitFor();
  assert.ok((await played(host.page)) >= before, "a reload loses nothing");
  await host.page.getByRole("heading", { name: "Standings" }).waitFor();
  await inspect(host.page, "tournament-running");

  assert.equal(await guest.page.getByRole("button", { name: "Pause" }).count(), 0, "guests only watch");
  await host.page.getByRole("button", { name: "Pause" }).click();
  await state(guest.page, "paused").waitFor();
  await host.page.getByRole("button", { name: "Resume" }).click();
  await state(guest.page, "running").waitFor();

  const { store, port } = arena;
  await arena.kill();
  await guest.page.getByText("connection lost").waitFor();
  arena = await startArena({ store, port, args: ["--bots", list] });
  await guest.page.getByText("connection lost").waitFor({ state: "detached" });
  await state(guest.page, "running").waitFor();
  assert.ok((await played(guest.page)) >= before, "what was shown is kept");

  await host.page.getByRole("button", { name: "Cancel" }).click();
  await host.page.getByRole("button", { name: "Really end it" }).click();
  await state(guest.page, "cancelled").waitFor();
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("programs of the host take part by name, and what they do wrong is told", async () => {
  const host = await visitor(browser, { host: arena.host });
  const guest = await visitor(browser);
  await host.page.goto(`${arena.url}/tournaments/new?game=zombie-dice`);
  await host.page.getByLabel("Bot 1").selectOption("snake");
  await host.page.getByLabel("Bot 2").selectOption("clumsy");
  await host.page.getByRole("spinbutton", { name: /^Blocks/ }).fill("3");
  await host.page.getByRole("button", { name: "Start the tournament" }).click();
  await state(host.page, "finished").waitFor({ timeout: 60_000 });
  await host.page.getByRole("heading", { name: "What went wrong" }).waitFor();
  await guest.page.goto(host.page.url());
  await guest.page.getByRole("heading", { name: "What went wrong" }).waitFor();
  assert.equal((await host.page.getByText("Traceback").count()) > 0, true, "the host can read what it wrote");
  assert.equal(await guest.page.getByText("Traceback").count(), 0, "guests cannot");
  await inspect(host.page, "tournament-faults");
  // Beside the film, too: for the host.
  const list = host.page.getByRole("region", { name: "Matches" });
  const film = await list.getByRole("link").first().getAttribute("href");
  for (const { page } of [host, guest]) {
    await page.goto(`${arena.url}${film}`);
    await page.getByRole("heading", { name: "All steps" }).waitFor();
  }
  const logs = host.page.getByRole("region", { name: "For the host" });
  await logs.getByText("clumsy").first().waitFor();
  assert.ok((await logs.getByRole("link", { name: /^decision \d+$/ }).count()) > 0);
  assert.ok((await logs.getByText("Traceback").count()) > 0);
  await inspect(host.page, "match-logs");
  assert.equal(await guest.page.getByRole("region", { name: "For the host" }).count(), 0);
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("what cannot be played is said at the form", async () => {
  const { page } = await visitor(browser, { host: arena.host });
  await page.goto(`${arena.url}/tournaments/new?game=zombie-dice`);
  for (const name of ["Remove bot 4", "Remove bot 3", "Remove bot 2"])
    await page.getByRole("button", { name }).click();
  await page.getByRole("button", { name: "Start the tournament" }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /seats|entries/);
  assert.match(page.url(), /\/tournaments\/new/);
  const stranger = await visitor(browser);
  await stranger.page.goto(`${arena.url}/tournaments/new`);
  await stranger.page.getByText("Only the host can start a tournament").waitFor();
});
