// People play: a game of each kind through the pages, by mouse and by keyboard, alone and with a friend.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, openBrowser, startArena, visitor } from "./arena.mjs";

let arena, browser;
before(async () => {
  [arena, browser] = await Promise.all([startArena(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

const now = (page, game) => page.getByRole("button", { name: `Play ${game} now`, exact: true });

/** Waits until the person is asked; false when the match is over. */
async function asked(page) {
  const is = await page.waitForFunction(() => {
    if (document.querySelector(".result")) return "over";
    return document.querySelector(".status.asked") ? "asked" : undefined;
  });
  return (await is.jsonValue()) === "asked";
}

/** Decides until the match is over. */
async function finish(page, decide) {
  let decisions = 0;
  while (await asked(page)) {
    await decide();
    decisions++;
    assert.ok(decisions < 600, "the game does not end");
  }
  await page.getByRole("link", { name: "Watch the replay" }).waitFor();
  assert.ok(decisions > 0);
  return decisions;
}

/** Plays again: at another table, where the person is asked. The result of the last match is there until it has been set. */
async function again(page, choose) {
  const before = page.url();
  await choose();
  await page.waitForURL((url) => url.href !== before);
  await page.locator(".result").waitFor({ state: "detached" });
  assert.ok(await asked(page));
}

const zombieDice = (page) => async () => {
  const stop = page.getByRole("button", { name: /^Stop/ });
  const brains = Number(/bank (\d+)/.exec(await stop.innerText())?.[1] ?? 0);
  await (brains >= 2 ? stop : page.getByRole("button", { name: /^Roll/ })).click();
};

async function setUp(page, game, options) {
  await page.goto(`${arena.url}/play`);
  await page.getByRole("button", { name: `Set up ${game}`, exact: true }).click();
  await page.getByText("Options of the rules").click();
  for (const [name, value] of Object.entries(options)) await page.getByLabel(name).fill(value);
}

test("Zombie Dice against bots, and the replay after it", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play`);
  await now(page, "Zombie Dice").waitFor();
  await inspect(page, "play");
  await now(page, "Zombie Dice").click();
  assert.ok(await asked(page));
  await inspect(page, "table-zombie-dice");
  await finish(page, zombieDice(page));
  await inspect(page, "table-over");
  await page.getByRole("link", { name: "Watch the replay" }).click();
  await page.waitForURL(/\/replay/);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.goBack();
  await again(page, () => page.getByRole("button", { name: "Play again" }).click());
  assert.deepEqual(problems, []);
});

test("a race with the coach", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play?game=zombie-dice-race`);
  await page.getByRole("switch", { name: /Tell me after each decision/ }).check();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.ok(await asked(page));
  await page.getByRole("button", { name: /^Stop/ }).click();
  // Stopping before the first roll is never right.
  await page.getByText("It is better to roll").waitFor();
  await inspect(page, "table-coach");
  await finish(page, zombieDice(page));
  assert.deepEqual(problems, []);
});

test("solo by keyboard alone", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play`);
  const button = now(page, "Zombie Dice, solo");
  await button.waitFor();
  for (let i = 0; i < 60 && !(await button.evaluate((it) => it === document.activeElement)); i++) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  assert.ok(await asked(page));
  await page.keyboard.press("r");
  if (await asked(page)) await page.keyboard.press("s");
  assert.equal(await asked(page), false);
  const more = page.getByRole("button", { name: "Play again" });
  for (let i = 0; i < 60 && !(await more.evaluate((it) => it === document.activeElement)); i++) {
    await page.keyboard.press("Tab");
  }
  await again(page, () => page.keyboard.press("Enter"));
  assert.deepEqual(problems, []);
});

test("Tokyo by keys: dice are switches", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play`);
  await now(page, "Tokyo").click();
  assert.ok(await asked(page));
  const first = page.getByRole("switch", { name: /^die 1/ });
  assert.equal(await first.getAttribute("aria-checked"), "false");
  await page.keyboard.press("1");
  assert.equal(await first.getAttribute("aria-checked"), "true");
  await inspect(page, "table-tokyo");
  await finish(page, async () => {
    const hit = await page.getByRole("button", { name: /^Leave Tokyo/ }).count();
    await page.keyboard.press(hit > 0 ? "l" : "k");
  });
  assert.deepEqual(problems, []);
});

test("Infection against bots, by the keys of the terminal", async () => {
  const { page, problems } = await visitor(browser);
  await setUp(page, "Infection", { "max turns": "2" });
  await inspect(page, "play-set-up");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.ok(await asked(page));
  await page.getByRole("heading", { name: /You are a (human|zombie)/ }).waitFor();
  await inspect(page, "table-infection");
  const precaution = page.getByRole("radio", { name: /precaution/ });
  if ((await precaution.count()) > 0) {
    await page.keyboard.press("p");
    assert.ok(await precaution.isChecked());
    await page.keyboard.press("p");
    assert.ok(await page.getByRole("radio", { name: "nothing" }).isChecked());
  }
  await finish(page, async () => {
    const answer = page.getByRole("button", { name: /^Meet .* Enter$/ });
    if ((await answer.count()) > 0) return page.keyboard.press("Enter");
    const end = page.getByRole("button", { name: /^End the turn/ });
    await page.keyboard.press((await end.getAttribute("aria-disabled")) === "false" ? "e" : "1");
  });
  assert.deepEqual(problems, []);
});

test("Last Bullet: a survivor is steered until time is up", async () => {
  const { page, problems } = await visitor(browser);
  await setUp(page, "Last Bullet", { "max turns": "4", copies: "3" });
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.ok(await asked(page));
  await inspect(page, "table-last-bullet");
  await finish(page, () => page.keyboard.press("ArrowUp"));
  assert.deepEqual(problems, []);
});

test("two people at one table by link, and a reload comes back to the seat", async () => {
  const ada = await visitor(browser);
  await ada.page.goto(`${arena.url}/play?game=zombie-dice`);
  await ada.page.getByLabel("Your name at the table").fill("Ada");
  await ada.page.getByLabel("Seats for friends").fill("1");
  // A mandatory first roll is made at once, and may cost the turn before anybody is asked.
  await ada.page.getByText("Options of the rules").click();
  await ada.page.getByLabel(/^first roll/).selectOption("free");
  await ada.page.getByRole("button", { name: "Open the table and invite" }).click();
  const link = await ada.page.getByLabel("Whoever opens this link can join").inputValue();
  await inspect(ada.page, "table-waiting");

  const bob = await visitor(browser);
  await bob.page.goto(link);
  await bob.page.getByLabel("Your name at the table").fill("Bob");
  await bob.page.getByRole("button", { name: "Join" }).click();
  assert.ok(await asked(ada.page));
  await bob.page.getByText("Waiting for Ada").waitFor();
  // Somebody who comes later can only watch.
  const cleo = await visitor(browser);
  await cleo.page.goto(link);
  await cleo.page.getByText("You are watching").waitFor();
  assert.equal(await cleo.page.getByRole("button", { name: /^Roll/ }).count(), 0);

  await ada.page.reload();
  assert.ok(await asked(ada.page));
  await ada.page.keyboard.press("s");
  assert.ok(await asked(bob.page));
  await bob.page.reload();
  assert.ok(await asked(bob.page));
  await bob.page.getByRole("button", { name: /^Stop/ }).click();
  assert.ok(await asked(ada.page));
  assert.deepEqual([...ada.problems, ...bob.problems, ...cleo.problems], []);
});
