// The strategy as pictures, and the calculator.
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

test("the picture says when to stop, and a cell opens in the calculator", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  const cell = page.getByRole("link", { name: /^8 brains, red feet: stop/ });
  await cell.waitFor();
  await inspect(page, "learn");
  await cell.click();
  await page.getByText("Stop and bank 8.", { exact: true }).waitFor();
  await page.getByText("8 brains, 1 shotgun, feet red").waitFor();
  assert.deepEqual(problems, []);
});

test("the race dares more when it is behind", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  await page.getByLabel("Format").selectOption({ label: "Race to 13" });
  await page.locator("label", { hasText: "Shotguns" }).locator("select").selectOption({ label: "2" });
  const same = (what) => page.getByRole("link", { name: new RegExp(`^2 brains, green feet: ${what}`) });
  await page.getByLabel("You have banked").first().fill("10");
  await same("stop").waitFor();
  await page.getByLabel("You have banked").first().fill("0");
  await page.getByLabel("The other has banked").first().fill("12");
  await same("roll").waitFor();
  // The calculator is asked about the same race.
  await same("roll").click();
  assert.equal(await page.locator("#calculator").getByLabel("Game").inputValue(), "zombie-dice-race");
  assert.equal(await page.getByLabel("The other has banked").last().inputValue(), "12");
  await page.getByText("2 brains, 2 shotguns, feet green").waitFor();
  assert.deepEqual(problems, []);
});

test("the calculator takes clicks: dice, and Tokyo", async () => {
  const { page, problems } = await visitor(browser, { expected: ["400"] });
  await page.goto(`${arena.url}/learn`);
  await page.getByText("3 brains, 1 shotgun, feet green").waitFor();
  await page.getByRole("button", { name: /^one yellow shotgun more/ }).click();
  await page.getByText("3 brains, 2 shotguns, feet green").waitFor();
  await page.locator("#calculator").getByLabel("Game").selectOption("tokyo");
  await page.getByText(/in Tokyo, health 6 and 12 points/).waitFor();
  await page.getByRole("button", { name: /^die 1/ }).click();
  await page.getByRole("button", { name: /^Show all/ }).click();
  await inspect(page, "learn-tokyo");
  await page.getByRole("checkbox", { name: /I was hit in Tokyo/ }).check();
  await page.getByRole("row", { name: /stay in Tokyo/ }).waitFor();
  // What cannot be is told in words.
  await page.getByLabel("Your points").fill("0");
  await page.getByText(/at least 1 point, for entering/).waitFor();
  // The other games are as they were left, with the same dice in all of Zombie Dice.
  await page.locator("#calculator").getByLabel("Game").selectOption({ label: "Zombie Dice for two" });
  await page.getByText("3 brains, 2 shotguns, feet green").waitFor();
  await page.getByRole("checkbox", { name: "The other begins the rounds" }).check();
  await page.getByLabel("The other has banked").fill("25");
  await page.getByText("0 to 25 banked, 3 brains, 2 shotguns, feet green").waitFor();
  await page.locator("#calculator").getByLabel("Game").selectOption("tokyo");
  assert.ok(await page.getByRole("checkbox", { name: /I was hit in Tokyo/ }).isChecked());
  assert.deepEqual(problems, []);
});

test("the drill draws positions at one's level, and this browser keeps the score", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  const drill = page.getByRole("region", { name: "Drill" });
  const score = drill.getByTestId("score");
  await drill.getByLabel("Game").selectOption("tokyo");
  await score.getByText("Level 1 of 10, 0 of 0 right").waitFor();
  /** Answers with what the server knows to be right, or wrong. */
  const answer = async (right) => {
    const asked = page.waitForResponse((response) => response.url().includes("/api/learn/drill"));
    await drill.getByRole("button", { name: /^(Draw a|Next) position$/ }).click();
    const { options, level } = await (await asked).json();
    const wanted = options.filter(({ cost }) => (right ? cost === 0 : cost > 0)).map(({ label }) => label);
    const offered = drill.getByRole("group", { name: "What would you do?" }).getByRole("button");
    await offered.first().waitFor();
    const labels = await offered.allTextContents();
    await offered.nth(labels.findIndex((label) => wanted.includes(label.trim()))).click();
    await drill.getByText(right ? "Right: nothing is better." : "That costs").waitFor();
    return level;
  };
  assert.equal(await answer(true), 1);
  await inspect(page, "learn-drill");
  assert.equal(await answer(true), 1);
  await score.getByText("Level 2 of 10, 2 of 2 right, 2 in a row").waitFor();
  assert.equal(await answer(true), 2);
  assert.equal(await answer(true), 2);
  assert.equal(await answer(false), 3);
  await page.reload();
  await drill.getByLabel("Game").selectOption("tokyo");
  await score.getByText("Level 2 of 10, 4 of 5 right").waitFor();
  // Another game has a score of its own; what was spoilt is begun anew.
  await drill.getByLabel("Game").selectOption("zombie-dice-race");
  await score.getByText("Level 1 of 10, 0 of 0 right").waitFor();
  await answer(true);
  await page.evaluate(() => localStorage.setItem("drill", '{"tokyo":{"level":"x"}}'));
  await page.reload();
  await drill.getByLabel("Game").selectOption("tokyo");
  await score.getByText("Level 1 of 10, 0 of 0 right").waitFor();
  assert.deepEqual(problems, []);
});
