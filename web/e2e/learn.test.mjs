// The strategy as pictures, and the calculator.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, openBrowser, picture, startArena, visitor } from "./arena.mjs";

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
  const thumbs = page.getByRole("region", { name: "Zombie Dice: rules of thumb" });
  await thumbs.getByRole("row", { name: /^Stop at the second shotgun/ }).waitFor();
  await inspect(page, "learn");
  // On a phone nothing of the picture is out of sight, whatever is in the hand.
  await page.setViewportSize({ width: 360, height: 740 });
  const feet = page.getByLabel("Feet in your hand");
  await feet.selectOption("3");
  await page.getByRole("link", { name: /^8 brains, red red red feet/ }).waitFor();
  await page.locator("svg.down").scrollIntoViewIfNeeded();
  const cut = await page.locator("svg.down").evaluate((svg) => {
    const cells = [...svg.querySelectorAll(".cell")].map((one) => one.getBoundingClientRect());
    const outside = cells.filter(
      ({ left, right }) => left < 0 || right > document.documentElement.clientWidth,
    );
    return [cells.length, outside.length];
  });
  assert.ok(cut[0] > 50 && cut[1] === 0, cut.join(" "));
  await picture(page, "learn-narrow");
  await feet.selectOption("1");
  await page.setViewportSize({ width: 1280, height: 800 });
  await cell.click();
  await page.getByText("Stop and bank 8.", { exact: true }).waitFor();
  await page.getByText("8 brains, 1 shotgun, feet red").waitFor();
  assert.deepEqual(problems, []);
});

test("the race dares more when it is behind", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  await page.getByLabel("Format").selectOption({ label: "Race to 13" });
  const stopping = page.getByRole("region", { name: "Zombie Dice: when to stop" });
  await stopping.locator("label", { hasText: "Shotguns" }).locator("select").selectOption({ label: "2" });
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

test("rules of thumb have an exact price, and a rule of one's own, too", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  const thumbs = page.getByRole("region", { name: "Zombie Dice: rules of thumb" });
  const cost = async (rule) => {
    const row = thumbs.getByRole("row", { name: rule });
    await row.waitFor();
    return Number.parseFloat(await row.locator("td.cost").innerText());
  };
  assert.ok(
    (await cost(/^Stop at the second shotgun/)) < (await cost(/^Stop at the first shotgun/)),
    "greed is cheaper than fear",
  );
  // The rule that is pressed is the one whose scores are drawn.
  const chart = thumbs.getByRole("img", { name: /^How likely a turn banks/ });
  const before = await chart.getAttribute("aria-label");
  await thumbs.getByRole("button", { name: "Stop at the first shotgun" }).click();
  await thumbs.locator("figcaption", { hasText: "Stop at the first shotgun" }).waitFor();
  assert.notEqual(await chart.getAttribute("aria-label"), before);
  // The same rule by hand costs the same.
  for (const [shotguns, stop] of [
    ["No shotgun", "never"],
    ["One shotgun", "with 1 brain"],
    ["Two shotguns", "with 1 brain"],
  ]) {
    const asked = page.waitForResponse((response) => response.url().includes("/api/learn/thumb?"));
    const field = thumbs.getByLabel(shotguns);
    if ((await field.locator("option:checked").innerText()) === stop) continue;
    await field.selectOption({ label: stop });
    await asked;
  }
  const first = await cost(/^Stop at the first shotgun/);
  await thumbs
    .getByRole("row", { name: /^Your rule/ })
    .getByText(first.toFixed(2))
    .waitFor();
  await thumbs.getByLabel("Game").selectOption({ label: "Race to 13" });
  await thumbs.getByRole("row", { name: /^Perfect play 50.0%/ }).waitFor();
  // A word explains itself to keyboards and fingers.
  const word = thumbs.getByRole("button", { name: "cost" });
  await word.focus();
  await thumbs.getByRole("tooltip").filter({ hasText: "The bars begin at 0" }).waitFor();
  await page.keyboard.press("Escape");
  await thumbs.getByRole("tooltip").filter({ hasText: "The bars begin at 0" }).waitFor({ state: "hidden" });
  assert.deepEqual(problems, []);
});

test("the calculator shows the odds of the next roll, and names a field that is wrong", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/learn`);
  const odds = page.getByRole("list", { name: "The odds of the next roll" });
  await odds.getByText("a third shotgun: the turn is lost").waitFor();
  await page.getByRole("button", { name: "What the numbers mean" }).focus();
  await page.getByRole("tooltip").filter({ hasText: "a bar of full width would be 100%" }).waitFor();
  const shares = await odds.getByRole("listitem").locator("b").allInnerTexts();
  const sum = shares.reduce((all, share) => all + Number.parseFloat(share), 0);
  assert.ok(Math.abs(sum - 100) < 0.5, shares.join(" "));
  await page.locator("#calculator").getByLabel("Game").selectOption("zombie-dice-race");
  await page.locator("#calculator").getByLabel("You have banked").fill("");
  await page.getByText("You have banked: expected a whole number from 0 to 12.").waitFor();
  await page.locator("#calculator").getByLabel("You have banked").fill("12");
  await odds.waitFor();
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
