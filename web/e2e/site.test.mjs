// The frame of all pages: a first visit, the way around by keyboard, both themes, unknown addresses, the host's link.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, openBrowser, startArena, visitor } from "./arena.mjs";

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
  await page.goto(arena.url);
  await page.getByRole("link", { name: "Bring your own bot" }).click();
  await page.getByRole("heading", { name: "Bring your own bot" }).waitFor();
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
  await inspect(page, "home-light");
});

test("an unknown address says so", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/no/such/page`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await inspect(page, "missing");
  assert.deepEqual(problems, []);
});
