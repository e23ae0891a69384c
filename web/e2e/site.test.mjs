// The frame of all pages: a first visit, the way around by keyboard, both themes, unknown addresses, the host's link.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, openBrowser, startArena, visitor } from "./arena.mjs";
import { BUDGET, everyPage, load } from "./load.mjs";

let arena, browser;
before(async () => {
  [arena, browser] = await Promise.all([startArena({ samples: true }), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

test("the link makes a browser the host's, and leaves no key in the address", async () => {
  const { page, problems } = await visitor(browser, { host: arena.host });
  await page.getByText("host", { exact: true }).waitFor();
  assert.equal(page.url(), `${arena.url}/`);
  const stranger = await visitor(browser);
  await stranger.page.goto(arena.url);
  await stranger.page.getByRole("navigation").waitFor();
  assert.equal(await stranger.page.getByText("host", { exact: true }).count(), 0);
  assert.deepEqual([...problems, ...stranger.problems], []);
});

test("a stranger finds a film that plays, tournaments, and a bot to copy", async () => {
  const { page, problems } = await visitor(browser, { reducedMotion: "no-preference" });
  await page.goto(arena.url);
  const words = page.getByRole("region", { name: "A match" }).locator("p.words");
  await words.filter({ hasText: /\w/ }).waitFor();
  const first = await words.textContent();
  await page.waitForFunction(
    ([before]) => document.querySelector("p.words")?.textContent !== before,
    [first],
  );
  await page.getByRole("link", { name: "Watch it from the start" }).click();
  await page.waitForURL(/\/matches\//);
  await page.goto(`${arena.url}/tournaments`);
  const samples = page.getByRole("link").filter({ hasText: "sample" });
  await samples.nth(1).waitFor();
  // Replays, too, are a list with something in it.
  await page.goto(`${arena.url}/replay`);
  const played = page.getByRole("region", { name: "Matches played here" });
  await played
    .getByRole("link", { name: /from the tournament of/ })
    .nth(1)
    .waitFor();
  await inspect(page, "replay-samples");
  await played
    .getByRole("link", { name: /from the tournament of/ })
    .first()
    .click();
  await page.waitForURL(/\/tournaments\/\d+\/matches\//);
  await page.getByTestId("board").waitFor();
  await page.goto(arena.url);
  await page.getByRole("link", { name: "Bring your own bot" }).click();
  await page.getByRole("heading", { name: "Bring your own bot" }).waitFor();
  await page.getByText("cargo install --path crates/cli").waitFor();
  for (const [language, word] of [
    ["Python", "import json"],
    ["JavaScript", "require("],
    ["Java", "public class Bot"],
    ["Rust", "use serde_json"],
    ["C", "#include"],
    ["Ruby", "require"],
  ]) {
    await page.getByLabel("Language").selectOption(language);
    await page.getByLabel("The template").filter({ hasText: word }).waitFor();
    const text = await page.getByLabel("The template").textContent();
    assert.ok(!text.includes("{{"), `${language}: nothing is left to fill in`);
  }
  await page.getByText("necrodome check-bot tokyo ./bot.rb").waitFor();
  await inspect(page, "bots");
  assert.deepEqual(problems, []);
});

test("a page whose code does not come is asked for again", async () => {
  const { page, problems } = await visitor(browser, { expected: ["Failed to load resource", "net::ERR"] });
  await page.goto(arena.url);
  await page.getByRole("link", { name: "Bring your own bot" }).waitFor();
  let down = true;
  const answer = (route) => (down ? route.abort("internetdisconnected") : route.continue());
  await page.route("**/assets/**", answer);
  await page.route("**/api/**", answer);
  await page.getByRole("link", { name: "Bring your own bot" }).click();
  await page.getByText("This page cannot be loaded yet").waitFor();
  down = false;
  await page.getByRole("heading", { name: "Bring your own bot" }).waitFor();
  // A server that answers without that code is not asked for ever.
  await page.route("**/assets/Learn*", (route) => route.abort("failed"));
  await page.evaluate(() => sessionStorage.setItem("pages loaded again", "3"));
  await page.getByRole("navigation").getByRole("link", { name: "Learn" }).click();
  await page.getByText("This page cannot be loaded: the server answers, but").waitFor();
  assert.deepEqual(problems, []);
});

test("all pages can be reached with the keyboard alone", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(arena.url);
  for (const name of ["Play", "Tournaments", "Replays", "Learn", "Party"]) {
    const link = page.getByRole("navigation").getByRole("link", { name, exact: true });
    await link.waitFor();
    for (let i = 0; i < 40 && !(await link.evaluate((a) => a === document.activeElement)); i++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname !== "/");
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    assert.equal(await link.getAttribute("aria-current"), "page");
    await page.goto(arena.url);
  }
  assert.deepEqual(problems, []);
});

test("the theme can be changed and is remembered", async () => {
  const { page } = await visitor(browser, { colorScheme: "dark" });
  await page.goto(arena.url);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.getByRole("button", { name: "Use the light theme" }).click();
  assert.equal(await theme(), "light");
  await page.reload();
  assert.equal(await theme(), "light");
});

test("the theme follows the system until one is chosen", async () => {
  const { page, problems } = await visitor(browser, { colorScheme: "dark" });
  await page.goto(arena.url);
  await page.getByRole("region", { name: "A match" }).locator("p.words").filter({ hasText: /\w/ }).waitFor();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("[data-theme=light]").waitFor();
  await inspect(page, "home");
  await page.getByRole("button", { name: "Use the dark theme" }).click();
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await theme(), "dark");
  assert.deepEqual(problems, []);
});

test("an unknown address says so", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/no/such/page`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await inspect(page, "missing");
  assert.deepEqual(problems, []);
});

test("no page sends more than 200 KB when it is opened for the first time", async () => {
  const { pages, storageState, close } = await everyPage(arena, browser);
  const heavy = [];
  const waiting = pages.values();
  const visit = async () => {
    for (const page of waiting) {
      const { bytes } = await load(browser, arena.url + page, { storageState });
      // Less would mean that nothing was counted.
      assert.ok(bytes > 20_000, `${page}: ${bytes} bytes`);
      if (bytes > BUDGET) heavy.push(`${page}: ${bytes} bytes`);
    }
  };
  // Most of a visit is waiting for more to come, so three are made at a time.
  await Promise.all([visit(), visit(), visit()]);
  await close();
  assert.deepEqual(heavy, []);
});
