// A game without a board of its own, the example that only tests see: played and watched like any other. Its binary is built with
// `--features example`.
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

/** Opens a table of Pig, and gives its id. */
async function open(page, wanted) {
  await page.goto(arena.url);
  const answer = await page.evaluate(async (wanted) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ game: "pig", name: "Ada", ...wanted });
    return (await fetch("/api/tables", { method: "POST", headers, body })).json();
  }, wanted);
  assert.ok(answer.id, `no table of Pig (is this a build with --features example?): ${answer.error}`);
  return answer.id;
}

async function asked(page) {
  const is = await page.waitForFunction(() => {
    if (document.querySelector(".result")) return "over";
    return document.querySelector(".status.asked") ? "asked" : undefined;
  });
  return (await is.jsonValue()) === "asked";
}

const fact = (page, name) => page.locator(".board dl.plain div", { hasText: name }).locator("dd");
/** The scores as the board shows them, by seat. */
const scores = async (page) => (await page.locator(".board tbody td").allTextContents()).map(Number);

test("Pig is played at the generic table, by mouse and by key, and its film is watched", async () => {
  const { page, problems } = await visitor(browser);
  const id = await open(page, { bots: ["hold-at:points=8", "random"], options: { goal: 40 } });
  await page.goto(`${arena.url}/tables/${id}`);
  assert.ok(await asked(page));
  await page.getByRole("heading", { name: "Pig" }).waitFor();
  assert.equal(await fact(page, "goal").textContent(), "40");
  assert.equal(await fact(page, "current").textContent(), "Ada");
  assert.deepEqual(await scores(page), [0, 0, 0]);
  await inspect(page, "table-pig");

  const roll = page.getByRole("button", { name: /^Roll/ });
  const hold = page.getByRole("button", { name: /^Hold/ });
  let decisions = 0;
  while (await asked(page)) {
    const holds = Number(await fact(page, "turn").textContent()) >= 8;
    const byKey = decisions % 2 === 1;
    if (byKey) await page.keyboard.press(holds ? "2" : "1");
    else await (holds ? hold : roll).click();
    decisions++;
    assert.ok(decisions < 600, "the game does not end");
  }
  assert.ok(decisions > 2);
  await page
    .getByText(/^\d+ points?$/)
    .first()
    .waitFor();
  await inspect(page, "table-pig-over");

  await page.getByRole("link", { name: "Watch the replay" }).click();
  await page.getByRole("heading", { level: 1, name: "Pig" }).waitFor();
  const film = await page.evaluate(async (id) => (await fetch(`/api/tables/${id}/film`)).json(), id);
  for (const step of [0, 1, Math.floor(film.steps / 2), film.steps]) {
    await page.evaluate((step) => (location.hash = `#step=${step}`), step);
    await page.waitForFunction(
      (step) => document.querySelector("input[type=range]")?.value === String(step),
      step,
    );
    assert.deepEqual(await scores(page), film.frames[step].scene.scores);
  }
  assert.equal(await page.locator(".board .chip", { hasText: "wins" }).count(), 1);
  await page.evaluate(() => (location.hash = "#step=1"));
  const happened = page.getByRole("list", { name: "What happened in this step" });
  await happened.getByText(/^Ada rolled, die \d/).waitFor();
  await inspect(page, "replay-pig");
  assert.deepEqual(problems, []);
});

test("a guest sees an open game, and cannot decide in it", async () => {
  const ada = await visitor(browser);
  const id = await open(ada.page, { bots: ["hold-at"] });
  const bob = await visitor(browser);
  await bob.page.goto(`${arena.url}/tables/${id}`);
  await bob.page.getByText("You are watching").waitFor();
  assert.deepEqual(await scores(bob.page), [0, 0]);
  assert.equal(await bob.page.getByRole("button", { name: /^Roll/ }).count(), 0);
  assert.deepEqual([...ada.problems, ...bob.problems], []);
});
