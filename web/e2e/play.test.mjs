// People play: a game of each kind through the pages, by mouse and by keyboard, alone and with a friend.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { drawn, inspect, openBrowser, picture, startArena, visitor } from "./arena.mjs";

let arena, browser;
before(async () => {
  // Whoever closes the page may be replaced at once.
  [arena, browser] = await Promise.all([startArena({ args: ["--patience", "0"] }), openBrowser()]);
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

/** Opens a table by request, as the page does, and gives its address. */
async function open(page, wanted) {
  await page.goto(arena.url);
  const id = await page.evaluate(async (wanted) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch("/api/tables", { method: "POST", headers, body: JSON.stringify(wanted) });
    return (await response.json()).id;
  }, wanted);
  return `${arena.url}/tables/${id}`;
}

test("the others' turns are played before one's eyes, and the fatal roll with them", async () => {
  const { page, problems } = await visitor(browser, { reducedMotion: "no-preference" });
  // The test says when time passes.
  await page.clock.install();
  // Whose dice never run out, and who is never satisfied, is shot in the end.
  const options = { first_roll: "free", out_of_dice: "recycle_brains" };
  const never = "stop-at:brains=50,shotguns=3";
  const bots = [never, never];
  await page.goto(await open(page, { game: "zombie-dice", name: "Ada", bots, options }));
  assert.ok(await asked(page));
  await page.getByLabel("Pace").selectOption("calm");
  const beat = page.locator(".beat");
  const stopAndSee = async () => {
    await page.keyboard.press("s");
    await beat.waitFor();
    assert.equal(await page.locator(".status.asked").count(), 0);
  };

  /** Watches everything until one is asked again, and notes each beat with what the board shows. */
  const watch = async () => {
    const seen = [];
    for (let looks = 0; (await beat.count()) > 0; looks++) {
      assert.ok(looks < 400, "it never ends");
      const text = (await beat.innerText()).replaceAll(/\s+/g, " ").trim();
      if (text !== seen.at(-1)?.text) {
        const board = page.locator(".board .table");
        const busted = await board.evaluate((it) => it.classList.contains("busted"));
        const shot = Number(await page.locator(".count.shot").innerText());
        const happened = page.getByRole("list", { name: "What happened", exact: true });
        seen.push({ text, busted, shot, rows: await happened.locator("li").count() });
        if (busted) await picture(page, "table-fatal-roll");
      }
      await page.clock.runFor(250);
    }
    assert.ok(await asked(page));
    return seen;
  };

  await stopAndSee();
  const seen = await watch();
  // Nothing is told before it is shown.
  assert.ok(
    seen.every(({ rows }, i) => i === 0 || rows > seen[i - 1].rows),
    JSON.stringify(seen),
  );
  const fatal = seen.findIndex(({ text }) => /-2 is shot three times/.test(text));
  assert.ok(fatal > 1, JSON.stringify(seen));
  assert.deepEqual([seen[fatal].busted, seen[fatal].shot >= 3], [true, true]);
  assert.match(seen[fatal - 1].text, /-2 rolls/);
  assert.ok(seen[fatal - 1].shot >= 3 && !seen[fatal - 1].busted, "the roll itself was shown before");

  // Whoever is impatient skips, and whoever comes back sees how it is.
  await stopAndSee();
  await page.getByRole("button", { name: "Skip" }).click();
  assert.ok(await asked(page));
  await stopAndSee();
  await page.keyboard.press("Escape");
  assert.ok(await asked(page));
  await stopAndSee();
  await page.reload();
  assert.ok(await asked(page));
  assert.equal(await page.getByLabel("Pace").inputValue(), "calm");
  await stopAndSee();
  await page.getByLabel("Pace").selectOption("instant");
  assert.ok(await asked(page));
  await page.keyboard.press("s");
  await page.waitForFunction(() => document.querySelectorAll(".beat").length === 0);
  assert.ok(await asked(page));
  assert.deepEqual(problems, []);
});

test("Tokyo shows every hit on its own", async () => {
  const { page, problems } = await visitor(browser, { reducedMotion: "no-preference" });
  await page.clock.install();
  await page.goto(await open(page, { game: "tokyo", name: "Ada", bots: ["angry", "angry", "angry"] }));
  await page.getByLabel("Pace").selectOption("usual");
  const beat = page.locator(".beat");
  const said = new Set();
  // Until somebody was hit while it was shown.
  for (let rounds = 0; ![...said].some((text) => /hits \S+ for/.test(text)); rounds++) {
    assert.ok(rounds < 60, [...said].join("\n"));
    const state = await page.waitForFunction(() => {
      if (document.querySelector(".result")) return "over";
      if (document.querySelector(".beat")) return "shown";
      return document.querySelector(".status.asked") ? "asked" : undefined;
    });
    const is = await state.jsonValue();
    assert.notEqual(is, "over");
    if (is === "asked")
      await page.keyboard.press((await page.getByText("Leave Tokyo").count()) > 0 ? "l" : "k");
    else {
      said.add((await beat.allInnerTexts()).join(" ").replaceAll(/\s+/g, " "));
      await page.clock.runFor(400);
    }
  }
  assert.deepEqual(problems, []);
});

test("a set-up says what is missing, changes nothing by itself, and is there again after Back", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play`);
  await page.getByRole("button", { name: "Set up Zombie Dice", exact: true }).click();
  const start = page.getByRole("button", { name: "Start", exact: true });
  const bots = async () => page.getByLabel(/^Bot \d/).evaluateAll((all) => all.map((one) => one.value));
  const add = page.getByRole("button", { name: "Add a bot" });
  const remove = page.getByRole("button", { name: "Remove bot 1", exact: true });
  assert.deepEqual(await bots(), ["cautious", "greedy"]);

  // The coach knows games for two: it is not offered here, and sends nobody away.
  const coach = page.getByRole("switch", { name: /Tell me after each decision/ });
  assert.ok(await coach.isDisabled());
  await page.getByText("The coach knows games for two").waitFor();
  await remove.click();
  await coach.check();
  assert.ok(await start.isEnabled());
  await add.click();
  assert.ok(await start.isDisabled());
  assert.equal((await bots()).length, 2);
  await inspect(page, "play-set-up-dead");
  await remove.click();
  assert.ok(await start.isEnabled());
  await remove.click();
  await page.getByText("Zombie Dice needs 1 more player").waitFor();
  assert.ok(await start.isDisabled());

  // Bots come with parameters that suit them: without any this one would never stop.
  for (let i = 0; i < 3; i++) await add.click();
  await page.getByLabel(/^Bot 2/).selectOption("stop-at");
  await page.getByText("Parameters").first().click();
  assert.equal(
    await page
      .getByLabel(/^brains/)
      .first()
      .inputValue(),
    "5",
  );
  await page.getByRole("switch", { name: /Tell me/ }).uncheck();
  const chosen = await bots();
  assert.equal(chosen.length, 3);
  await start.click();
  assert.ok(await asked(page));
  await page.getByText("stop-at:brains=5,shotguns=2").first().waitFor();
  // Back asks first, too.
  await page.goBack();
  await page.getByRole("dialog").getByRole("button", { name: "Leave", exact: true }).click();
  await start.waitFor();
  assert.deepEqual(await bots(), chosen);

  // Options have the bounds of a table.
  await page.goto(`${arena.url}/play?game=last-bullet`);
  await page.getByText("Options of the rules").click();
  assert.equal(await page.getByLabel(/^copies/).getAttribute("max"), "20");
  assert.deepEqual(problems, []);
});

test("what cannot be loaded at first is asked for again", async () => {
  const expected = ["Failed to load resource", "net::ERR"];
  const { page, problems } = await visitor(browser, { expected });
  let down = true;
  await page.route("**/api/**", (route) => (down ? route.abort("internetdisconnected") : route.continue()));
  await page.goto(`${arena.url}/play`);
  await page.getByText("Trying again").waitFor();
  down = false;
  await now(page, "Tokyo").click();
  assert.ok(await asked(page));
  down = true;
  await page.reload();
  await page.getByText("Trying again").waitFor();
  down = false;
  assert.ok(await asked(page));
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
  const link = await ada.page.getByLabel("Anyone with this link can join").inputValue();
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

test("who is here, who is replaced, and a rematch together", async () => {
  const expected = ["Failed to load resource", "net::ERR"];
  const people = [await visitor(browser, { expected }), await visitor(browser), await visitor(browser)];
  const [ada, bob, cleo] = people.map((one) => one.page);
  await ada.goto(`${arena.url}/play?game=zombie-dice`);
  await ada.getByLabel("Your name at the table").fill("Ada");
  await ada.getByLabel("Seats for friends").fill("2");
  for (let bots = 0; bots < 2; bots++) {
    await ada.getByRole("button", { name: "Remove bot 1", exact: true }).click();
  }
  await ada.getByText("Options of the rules").click();
  await ada.getByLabel(/^first roll/).selectOption("free");
  await ada.getByLabel(/^max rounds/).fill("2");
  await ada.getByLabel("Clock").selectOption({ label: "5 minutes for a decision" });
  await ada.getByRole("button", { name: "Open the table and invite" }).click();
  const link = await ada.getByLabel("Anyone with this link can join").inputValue();
  for (const [page, name] of [
    [bob, "Bob"],
    [cleo, "Cleo"],
  ]) {
    await page.goto(link);
    await page.getByLabel("Your name at the table").fill(name);
    await page.getByRole("button", { name: "Join" }).click();
  }
  assert.ok(await asked(ada));
  const here = ada.getByRole("list", { name: "Who is here" });
  await here.locator("li", { hasText: /Bob\s+here/ }).waitFor();
  assert.match(await here.getByRole("timer").innerText(), /^[45]:\d\d$/);
  const watcher = await visitor(browser);
  await watcher.page.goto(link);
  await ada.getByText("1 watching").waitFor();
  await watcher.close();

  // Bob closes his page, and a bot plays for him.
  await bob.goto("about:blank");
  await here.locator("li", { hasText: /Bob\s+away/ }).waitFor();
  await inspect(ada, "table-away");
  await ada.getByRole("button", { name: "Let a bot play for Bob" }).click();
  await here.getByText("gone: cautious is playing").waitFor();
  await bob.goto(link);
  await bob.getByText("You are watching").waitFor();
  await inspect(bob, "table-replaced");

  // He comes back and takes his seat, and is replaced once more.
  await bob.getByRole("button", { name: "Take your seat back" }).click();
  await bob.getByText("Waiting for Ada").waitFor();
  await here.locator("li", { hasText: /Bob\s+here/ }).waitFor();
  assert.equal(await bob.getByText("You are watching").count(), 0);
  await ada.keyboard.press("s");
  assert.ok(await asked(bob));
  await bob.keyboard.press("s");
  assert.ok(await asked(cleo));
  await cleo.keyboard.press("s");
  assert.ok(await asked(ada));
  await bob.goto("about:blank");
  await ada.getByRole("button", { name: "Let a bot play for Bob" }).click();

  // Leaving is asked for once more, by whatever way, and a seat that could not be left is kept.
  const question = ada.getByRole("dialog", { name: "Leave the table?" });
  const stay = question.getByRole("button", { name: "Stay" });
  await ada.getByRole("button", { name: "Leave the table" }).click();
  await inspect(ada, "table-leave");
  await ada.context().setOffline(true);
  await question.getByRole("button", { name: "Leave", exact: true }).click();
  await question.getByText("You have not left the table: the server cannot be reached.").waitFor();
  await ada.context().setOffline(false);
  await stay.click();
  for (const way of [
    () => ada.getByRole("navigation").getByRole("link", { name: "Learn" }).click(),
    () => ada.goBack(),
  ]) {
    await way();
    await question.waitFor();
    assert.equal(ada.url(), link);
    await stay.click();
    await question.waitFor({ state: "hidden" });
  }
  const closing = ada.waitForEvent("dialog");
  await ada.close({ runBeforeUnload: true });
  assert.equal((await closing).type(), "beforeunload");
  await (await closing).dismiss();

  // Everybody stops at once until all rounds are over.
  let over = false;
  while (!over) {
    over = !(await asked(ada));
    if (over) break;
    await ada.keyboard.press("s");
    over = !(await asked(cleo));
    if (!over) await cleo.keyboard.press("s");
  }
  await ada.getByRole("button", { name: "Rematch" }).click();
  await ada.getByText("One seat is open").waitFor();
  await inspect(cleo, "table-rematch");
  await cleo.getByRole("button", { name: "Join the rematch" }).click();
  assert.ok(await asked(ada));
  await cleo.getByText("Waiting for Ada").waitFor();
  await cleo.getByRole("button", { name: "Leave the table" }).click();
  await cleo.getByRole("button", { name: "Leave", exact: true }).click();
  await ada.getByRole("list", { name: "Who is here" }).getByText("gone: cautious is playing").waitFor();
  assert.deepEqual(
    people.flatMap((one) => one.problems),
    [],
  );
});

test("on a phone the board, the scores and the choice are on one screen, and nobody is told about keys", async () => {
  const touch = { isMobile: true, hasTouch: true, reducedMotion: "no-preference" };
  const { page, problems } = await visitor(browser, { width: 360, height: 740, ...touch });
  await page.addInitScript(() => localStorage.setItem("table pace", "brisk"));
  const monsters = ["angry", "point-hunter", "random", "angry", "point-hunter"];
  for (const [game, board, choice, scores, bots] of [
    [
      "zombie-dice",
      ".board .table",
      ".choices button",
      ".lanes li",
      ["greedy", "cautious", "random", "greedy", "cautious"],
    ],
    ["tokyo", ".board", ".choices button", ".board ul > li", monsters],
    [
      "infection",
      ".me",
      "[aria-label='Your decision'] .big",
      ".public p",
      ["careful", "spreader", "random", "careful", "spreader"],
    ],
    ["last-bullet", ".steering .board", ".pad button", undefined, ["gunner", "runner"]],
  ]) {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(await open(page, { game, name: "Ada", bots }));
    if (!(await asked(page))) continue;
    for (const [width, height] of [
      [360, 740],
      [375, 667],
      [360, 640],
      [768, 1024],
    ]) {
      const what = `${game} at ${width} x ${height}`;
      await page.setViewportSize({ width, height });
      const look = () =>
        page.evaluate(
          ([board, choice, scores]) => {
            /** Whether all of it is on the screen, and nothing lies over it. */
            const inSight = (element) => {
              const { left, right, top, bottom } = element.getBoundingClientRect();
              const isOver = (y) => {
                const above = document.elementFromPoint((left + right) / 2, y);
                return !element.contains(above) && !above?.contains(element);
              };
              return (
                top >= 0 && bottom <= innerHeight && ![top + 2, (top + bottom) / 2, bottom - 2].some(isOver)
              );
            };
            const hidden = [board, choice, scores].flatMap((pattern) =>
              pattern === undefined
                ? []
                : [...document.querySelectorAll(pattern)].filter((one) => !inSight(one)),
            );
            const keys = [...document.querySelectorAll("kbd, .keys-only")].filter((one) =>
              one.checkVisibility(),
            );
            const found = document.querySelectorAll(choice).length;
            return { hidden: hidden.map((one) => one.outerHTML.slice(0, 200)), keys: keys.length, found };
          },
          [board, choice, scores ?? undefined],
        );
      let seen = await look();
      // Sizes that depend on the window follow with the next pictures.
      for (let i = 0; i < 20 && seen.hidden.length > 0; i++) {
        await drawn(page);
        seen = await look();
      }
      assert.deepEqual(seen.hidden, [], what);
      assert.equal(seen.keys, 0, what);
      assert.ok(seen.found > 0, what);
      await picture(page, `phone-${game}-${height}`);
    }
    // The navigation is left out; the skull leads home.
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole("navigation").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Necrodome, home" }).waitFor();
  }
  assert.deepEqual(problems, []);
});

test("Last Bullet: a death stays on the board until one goes on", async () => {
  const { page, problems } = await visitor(browser);
  // So crowded that nobody lives for long.
  const options = { copies: 2, density: 1, max_turns: 200 };
  const bots = ["gunner", "gunner", "gunner", "gunner"];
  const cross = page.locator(".sight, .board").locator(".cross");
  const goOn = page.getByRole("button", { name: /^Go on with another/ });
  /** Plays until a survivor dies; false when the match is over before. */
  const die = async () => {
    for (let turns = 0; (await cross.count()) === 0; turns++) {
      assert.ok(turns < 200, "nobody dies");
      if (!(await asked(page))) return false;
      const clock = await page.getByTestId("clock").innerText();
      await page.keyboard.press("ArrowUp");
      await page.waitForFunction((clock) => {
        if (document.querySelector(".cross")) return true;
        return document.querySelector("[data-testid=clock]")?.textContent !== clock;
      }, clock);
    }
    return true;
  };
  /** Plays until the last survivor dies; false when another one lives to the end. */
  const dieOut = async () => {
    if (!(await die())) return false;
    if ((await goOn.count()) === 0) return true;
    await goOn.click();
    assert.equal(await cross.count(), 0);
    return dieOut();
  };
  for (let tables = 0; ; tables++) {
    assert.ok(tables < 20, "Ada always lives");
    await page.goto(await open(page, { game: "last-bullet", name: "Ada", bots, options }));
    if (await dieOut()) break;
  }
  await page.getByRole("heading", { name: /^(Ada loses a survivor|Your survivor is gone)/ }).waitFor();
  // The board shows who can have done it, and words say so.
  const lines = await page.locator("path.suspect").count();
  const how = await page.getByRole("alert").innerText();
  assert.ok(lines > 0 || !how.includes("to a bullet"), how);
  assert.equal(lines > 0, how.includes("who can have done it"), how);
  await inspect(page, "table-death");
  const watched = page.getByRole("list", { name: "Who plays" });
  await page.getByText("None of your survivors is alive").waitFor();
  await watched.waitFor();
  await page.reload();
  await watched.waitFor();
  assert.equal(await cross.count(), 1, "it stays there after a reload");
  await page.getByRole("link", { name: "Watch the replay" }).waitFor();
  assert.equal(await cross.count(), 1, "it stays there when the match is over");
  assert.deepEqual(problems, []);
});

test("who watches a game with secrets sees what is announced", async () => {
  const ada = await visitor(browser);
  const bots = ["careful", "spreader", "random"];
  const table = await open(ada.page, { game: "infection", name: "Ada", bots });
  const guest = await visitor(browser);
  await guest.page.goto(table);
  await guest.page.getByText("You are watching").waitFor();
  const told = guest.page.getByRole("region", { name: "What everybody was told" });
  await told.getByText("zombie").waitFor();
  await guest.page.getByRole("list", { name: "Who plays" }).getByText("spreader").waitFor();
  assert.equal(await guest.page.getByText("You are a").count(), 0);
  await inspect(guest.page, "table-watched");
  assert.deepEqual([...ada.problems, ...guest.problems], []);
});

test("there is no sound until somebody asks for it", async () => {
  const { page, problems } = await visitor(browser);
  await page.addInitScript(() => {
    window.played = 0;
    const start = AudioScheduledSourceNode.prototype.start;
    AudioScheduledSourceNode.prototype.start = function (...when) {
      window.played++;
      return start.apply(this, when);
    };
  });
  await page.goto(`${arena.url}/play`);
  await now(page, "Tokyo").click();
  assert.ok(await asked(page));
  await page.keyboard.press("k");
  assert.ok(await asked(page));
  assert.equal(await page.evaluate(() => window.played), 0);
  await page.getByRole("button", { name: "Sound" }).click();
  assert.ok((await page.evaluate(() => window.played)) > 0);
  // It is remembered.
  const pressed = () => page.getByRole("button", { name: "Sound" }).getAttribute("aria-pressed");
  await page.reload();
  assert.ok(await asked(page));
  assert.equal(await pressed(), "true");
  await page.getByRole("button", { name: "Sound" }).click();
  await page.reload();
  assert.ok(await asked(page));
  assert.equal(await pressed(), "false");
  assert.deepEqual(problems, []);
});
