// A party with twelve phones: one of them reloads, the arena is killed in the middle of a turn, and the game is played to its end.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import {
  assertAccessible,
  drawn,
  inspect,
  necrodome,
  openBrowser,
  picture,
  scratch,
  startArena,
  visitor,
} from "./arena.mjs";

let arena, browser;
before(async () => {
  [arena, browser] = await Promise.all([startArena(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** What a browser says about an arena that is not there is what this test wants to happen. */
const expected = [
  "ERR_CONNECTION",
  "ERR_INCOMPLETE",
  "ERR_NETWORK",
  "ERR_EMPTY_RESPONSE",
  "Failed to load resource",
];
const names = [
  "Anna",
  "Ben",
  "Carla",
  "David",
  "Emma",
  "Felix",
  "Greta",
  "Hugo",
  "Ida",
  "Jan",
  "Kim",
  "Zoë <i>",
];

async function openRoom(page, options = {}) {
  await page.goto(`${arena.url}/party`);
  const chosen = Object.keys(options).some((label) => /Turns|Antibodies|Viruses|Zombies/.test(label));
  if (chosen) await page.getByLabel("Rules that suit the number of guests").uncheck();
  for (const [label, value] of Object.entries(options)) await page.getByLabel(label).fill(String(value));
  await page.getByRole("button", { name: "Open the room" }).click();
  await page.getByRole("heading", { name: /^Room/ }).waitFor();
  return /party\/(\w+)\/host/.exec(page.url())[1];
}

async function join(id, name, script = "") {
  const phone = await visitor(browser, { width: 360, height: 740, expected });
  await phone.context.addInitScript(script);
  await phone.page.goto(`${arena.url}/party/${id}`);
  await phone.page.getByLabel("Your name").fill(name);
  await phone.page.getByRole("button", { name: "Join" }).click();
  await phone.page.getByRole("heading", { name: "You are in" }).waitFor();
  return { ...phone, name };
}

/** One asks the other, both agree, and both commit. */
async function propose(one, other) {
  await one.page.getByRole("button", { name: other.name, exact: true }).click();
  await one.page.getByRole("button", { name: `Ask ${other.name}` }).click();
  await other.page.getByRole("button", { name: `Meet ${one.name}` }).click();
  await one.page.getByRole("heading", { name: `You meet ${other.name}` }).waitFor();
}

/** Commits nothing, or a precaution: of a zombie it does nothing. */
async function commit(phone, spend) {
  await phone.page.getByRole("button", { name: spend ? "A precaution" : "Nothing" }).click();
}

async function meet(one, other) {
  await propose(one, other);
  await commit(one, true);
  await commit(other, false);
  for (const [phone, with_] of [
    [one, other],
    [other, one],
  ]) {
    await phone.page.getByText(`You have met ${with_.name}.`).waitFor();
  }
}

async function endTurn(phone) {
  await phone.page.getByRole("button", { name: "End my turn" }).click();
  await phone.page.getByRole("dialog").getByRole("button", { name: "End my turn" }).click();
}

test("twelve phones, a reload, and a kill in the middle of a turn", { timeout: 600_000 }, async () => {
  const host = await visitor(browser, { host: arena.host, expected });
  const options = {
    Turns: 2,
    "Antibodies of each human": 1,
    "Viruses of each zombie": 1,
    "Seconds to answer": 300,
  };
  const id = await openRoom(host.page, options);
  // What cannot be pressed says why.
  const begin = host.page.getByRole("button", { name: "Start the game" });
  const few = host.page.getByText("A game needs at least 2 players.");
  await few.waitFor();
  assert.ok(await begin.isDisabled());
  const wall = await visitor(browser, { expected });
  await wall.page.clock.install();
  await wall.page.goto(`${arena.url}/party/${id}/wall`);
  const phones = await Promise.all(names.map((name) => join(id, name)));
  await wall.page.getByRole("heading", { name: "12 players joined" }).waitFor();
  await inspect(wall.page, "party-wall-lobby");
  await host.page.getByText("No phone can join").waitFor();
  await inspect(host.page, "party-host-lobby");
  await inspect(phones[0].page, "party-phone-lobby");
  assert.equal(await few.isVisible(), false);
  await begin.click();
  await host.page.getByText("Nobody has met in this turn yet.").waitFor();
  await wall.page.getByText("The game begins").waitFor();
  await heard(wall.page, /^11 humans, 1 zombie$/);
  await inspect(wall.page, "party-wall-turn");

  // In the first turn one phone reloads while it is in a contact.
  const [anna, ben, carla] = phones;
  await anna.page.getByRole("button", { name: "Hold to peek" }).waitFor();
  await inspect(anna.page, "party-phone-turn");
  await propose(anna, ben);
  await inspect(ben.page, "party-phone-commit");
  await ben.page.reload();
  await ben.page.getByRole("heading", { name: "You meet Anna" }).waitFor();
  await commit(ben, false);
  await commit(anna, false);
  await ben.page.getByText("You have met Anna.").waitFor();

  // Then the arena is killed while two others have agreed, and one of them has committed.
  const david = phones[3];
  await propose(carla, david);
  await commit(carla, false);
  await carla.page.getByText("You have committed. Waiting for the other player.").waitFor();
  await arena.kill();
  await anna.page.getByText("The connection is lost").waitFor();
  arena = await startArena({ store: arena.store, port: arena.port });
  await commit(david, false);
  await carla.page.getByText("You have met David.").waitFor();
  await david.page.getByText("You have met Carla.").waitFor();
  await anna.page.getByText("The connection is lost").waitFor({ state: "hidden" });
  await inspect(host.page, "party-host-turn");
  // Somebody comes late, and plays from the next turn on.
  const late = await join(id, "Lotte");
  await late.page.getByText("You play from the next turn on.").waitFor();
  await wall.page.getByText("From the next turn: Lotte").waitFor();
  await Promise.all([4, 6, 8, 10].map((i) => meet(phones[i], phones[i + 1])));
  await Promise.all(phones.map(endTurn));
  await wall.page.getByText("Turn 1 is over").waitFor();
  await heard(wall.page, /^At most \d+ antibod/);
  await late.page.getByText("Turn 2 of 2").waitFor();
  await late.page.getByRole("button", { name: "Hold to peek" }).waitFor();
  const lotte = wall.page.getByRole("listitem").filter({ hasText: "Lotte" });
  await late.page.goto("about:blank");
  await lotte.getByText("no phone").waitFor();
  await late.page.goBack();
  await lotte.getByText("no phone").waitFor({ state: "detached" });

  // The second turn is the last: by code, undone, again, and the antidote.
  await anna.page.getByRole("button", { name: "Show or type a code" }).click();
  const code = await anna.page.locator("p.code").innerText();
  await inspect(anna.page, "party-phone-code");
  await anna.page.keyboard.press("Escape");
  await carla.page.goto(`${arena.url}/party/${id}?meet=${code}`);
  await anna.page.getByRole("button", { name: "Meet Carla" }).click();
  await commit(anna, false);
  await commit(carla, false);
  await anna.page.getByText("You have met Carla.").waitFor();
  await host.page.getByRole("button", { name: "Undo the last contact" }).click();
  await host.page.getByRole("button", { name: "Undo it" }).click();
  await anna.page.getByText("The host has undone your contact with Carla.").waitFor();
  await Promise.all([0, 1, 2, 3, 4, 5].map((i) => meet(phones[i], phones[i + 6])));
  await meet(anna, late);
  await ben.page.getByRole("button", { name: "Antidote" }).click();
  await ben.page.getByRole("button", { name: "Take it" }).click();
  await ben.page.getByRole("dialog").waitFor({ state: "detached" });
  await endTurn(anna);
  await host.page.getByRole("button", { name: "End the turn for everybody" }).click();
  await host.page.getByRole("button", { name: "End the turn", exact: true }).click();
  await heard(wall.page, /win/);
  await anna.page.getByText(/^You have (won|lost)/).waitFor();
  await wall.page.getByRole("heading", { name: "Who infected whom" }).waitFor();
  for (const name of names) await wall.page.locator(".tree").getByText(name).waitFor();
  await inspect(wall.page, "party-wall-end");
  for (const { page } of phones) {
    await page
      .getByRole("heading", { name: /(got you in turn|zombie from the start|Nobody got you)/ })
      .waitFor();
  }
  await anna.page.getByText("Knows everybody 3 contacts").waitFor();
  await inspect(anna.page, "party-phone-end");
  await inspect(host.page, "party-host-end");

  // The judge's own program accepts what is exported, and tells the same end.
  const script = path.join(scratch(), "party.txt");
  const response = await host.context.request.get(`${arena.url}/api/party/${id}/script`);
  writeFileSync(script, await response.text());
  const judged = execFileSync(necrodome, ["judge", "run", script, "--public"], { encoding: "utf8" });
  const ending = (await wall.page.locator(".ending").innerText()).toLowerCase();
  assert.ok(judged.toLowerCase().includes(ending), `${judged}\n${ending}`);

  // One tap, and the same guests play again.
  await host.page.getByRole("button", { name: "Play again with the same guests" }).click();
  for (const { page } of [...phones, late]) await page.getByText("Turn 1 of 2").waitFor();
  await wall.page.getByText("The game begins").waitFor();
  const problems = [host, wall, late, ...phones].flatMap((one) => one.problems);
  assert.deepEqual(problems, []);
});

/** Hears what the wall announces, one after the other, to its end. */
async function heard(page, last) {
  await page.locator(".headline").waitFor();
  const words = [];
  for (;;) {
    const [line] = await page.locator(".headline .words").allInnerTexts();
    if (line === undefined) break;
    if (line !== words.at(-1)) words.push(line);
    await page.clock.runFor(500);
  }
  assert.ok(
    words.some((line) => last.test(line)),
    words.join("; "),
  );
}

/** What of a wall is not on the screen, or is cut off. Runs in the page. */
function cutOff() {
  return [...document.querySelectorAll(".wall *:not(.sr-only)")]
    .filter((one) => {
      const { bottom, right } = one.getBoundingClientRect();
      const isLarger = one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
      const hides = isLarger && getComputedStyle(one).overflow === "hidden";
      return hides || bottom > innerHeight + 1 || right > innerWidth + 1;
    })
    .map((one) => one.outerHTML.slice(0, 120));
}

/** What of a wall is not on the screen once all has its size. */
async function outsideOf(page) {
  let outside;
  // Sizes that depend on the window follow with the next pictures.
  for (let i = 0; i < 20 && outside?.length !== 0; i += 1) {
    await drawn(page);
    outside = await page.evaluate(cutOff);
  }
  return outside;
}

/** Everything is on the screen, whatever its size, and no name is cut off. */
async function assertOnScreen(page, name, { isPaused = false } = {}) {
  for (const [width, height, theme] of [
    [1280, 720, "light"],
    [1280, 720, "dark"],
    [1920, 1080, "light"],
    [3840, 2160, "dark"],
  ]) {
    await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
    await page.setViewportSize({ width, height });
    const outside = await outsideOf(page);
    await picture(page, `${name}-${width}-${theme}`);
    assert.deepEqual(outside, [], `${name} at ${width}`);
    // Axe needs a clock that goes.
    if (width === 3840 && !isPaused) await assertAccessible(page, `${name} at ${width}`);
  }
}

/** So many letters a name may have. */
const LONGEST = 40;

/** Somebody joins whose name is as long as names may be. */
async function comeLong(id, number) {
  const name = `${number} Bartholomäus Wolfeschlegelsteinhausen`.slice(0, LONGEST);
  const headers = { "content-type": "application/json", origin: arena.url };
  const options = { method: "POST", headers, body: JSON.stringify({ name }) };
  assert.ok((await fetch(`${arena.url}/api/party/${id}/join`, options)).ok);
}

test("200 of the longest names fit, or the wall says how many do not", { timeout: 600_000 }, async () => {
  const host = await visitor(browser, { host: arena.host });
  const id = await openRoom(host.page);
  for (let number = 100; number < 300; number++) await comeLong(id, number);
  const wall = await visitor(browser);
  await wall.page.clock.install();
  await wall.page.goto(`${arena.url}/party/${id}/wall`);
  await wall.page.getByRole("heading", { name: "200 players joined" }).waitFor();
  /** All names are on the screen, or counted. */
  const assertAllNamed = async (what) => {
    await assertOnScreen(wall.page, what);
    await wall.page.setViewportSize({ width: 1280, height: 720 });
    await wall.page.waitForFunction(() => {
      const lines = [...document.querySelectorAll(".wall .box li")].map((one) => one.textContent);
      const rest = /^and (\d+) others?$/.exec(lines.at(-1));
      const named = lines.filter((line) => line.includes("Bartholomäus")).length;
      return named > 50 && named + Number(rest?.[1] ?? 0) === 200;
    });
    assert.deepEqual(await outsideOf(wall.page), []);
  };
  await assertAllNamed("party-wall-lobby-long");
  await host.page.getByRole("button", { name: "Start the game" }).click();
  await heard(wall.page, /human/);
  await assertAllNamed("party-wall-turn-long");
  await host.page.getByText(/^0 of 200 have ended it\. .* and 194 others\.$/).waitFor();
  assert.deepEqual([...host.problems, ...wall.problems], []);
});

for (const guests of [2, 200]) {
  test(`the wall fits any screen with ${guests} guests`, { timeout: 600_000 }, async () => {
    const host = await visitor(browser, { host: arena.host });
    const ask = async (rest, data) => {
      const answer = await host.context.request.post(`${arena.url}/api/party${rest}`, { data });
      assert.ok(answer.ok(), await answer.text());
      return answer;
    };
    const { id } = await (await ask("", { turn_limit: 3600 })).json();
    // Those with the longest names play themselves, and meet nobody.
    const long = guests === 2 ? 0 : 12;
    for (let number = 0; number < long; number++) await comeLong(id, 10 + number);
    for (let left = guests - long; left > 0; left -= 100) {
      await ask(`/${id}/host`, { type: "add_bots", bot: "careful", count: Math.min(100, left) });
    }
    const wall = await visitor(browser);
    await wall.page.clock.install();
    await wall.page.goto(`${arena.url}/party/${id}/wall`);
    await wall.page.getByRole("heading", { name: `${guests} players joined` }).waitFor();
    await assertOnScreen(wall.page, `party-wall-lobby-${guests}`);
    await ask(`/${id}/host`, { type: "start" });
    await heard(wall.page, /human/);
    await wall.page.getByRole("timer").waitFor();
    // Zombies have their colour, which is not that of what can be pressed; and the bars have numbers.
    const [zombies, ...drawn] = await wall.page.evaluate(() => {
      const colour = (pattern, property) => getComputedStyle(document.querySelector(pattern))[property];
      document.querySelector("progress").style.color = "var(--zombie)";
      return [
        colour("progress", "color"),
        colour(".zombie .words", "color"),
        colour(".figures svg.zombie", "fill"),
        colour("rect.zombies", "fill"),
      ];
    });
    assert.deepEqual(drawn, Array(3).fill(zombies));
    const bars = await wall.page.getByRole("region", { name: "Turn by turn" }).locator("b").allTextContents();
    assert.equal(
      bars.reduce((sum, text) => sum + Number(text), 0),
      guests,
    );
    for (let number = 0; number < long; number++) await comeLong(id, 30 + number);
    if (long > 0) await wall.page.getByText(/From the next turn: 30 .* and 10 others/).waitFor();
    await assertOnScreen(wall.page, `party-wall-turn-${guests}`);
    if (long > 0) {
      // What is announced stays until the test lets time pass.
      await wall.page.clock.pauseAt(Date.now() + 60_000);
      await ask(`/${id}/host`, { type: "end_turn", turn: 1 });
      const broke = wall.page.locator(".headline .words", { hasText: "Broke a rule by meeting nobody" });
      await wall.page.locator(".headline").waitFor();
      while ((await broke.count()) === 0) await wall.page.clock.runFor(500);
      await assertOnScreen(wall.page, `party-wall-headline-${guests}`, { isPaused: true });
      await wall.page.clock.resume();
      await heard(wall.page, /Broke a rule/);
      await assertOnScreen(wall.page, `party-wall-later-${guests}`);
    }
    let board;
    do {
      board = (await (await host.context.request.get(`${arena.url}/api/party/${id}`)).json()).board;
      if (board.phase === "playing") await ask(`/${id}/host`, { type: "end_turn", turn: board.turn });
    } while (board.phase === "playing");
    await heard(wall.page, /win/);
    await assertOnScreen(wall.page, `party-wall-end-${guests}`);
    assert.deepEqual([...host.problems, ...wall.problems], []);
    // With motion, the rules are shown one picture after the other.
    if (guests === 2) {
      const { id } = await (await ask("", {})).json();
      const { page } = await visitor(browser, { reducedMotion: "no-preference" });
      await page.clock.install();
      await page.goto(`${arena.url}/party/${id}/wall`);
      for (const number of [1, 2, 3, 4, 1]) {
        await page.getByText(new RegExp(`^${number}\\. `)).waitFor();
        assert.equal(await page.locator("figure").count(), 1);
        await page.clock.runFor(7000);
      }
    }
  });
}

/** All that can be seen of a page but for the peek: texts, attributes, boxes and colours. Clocks run, and guests have numbers and codes. */
function outside(page) {
  return page.evaluate(() => {
    const anonymous = (text) =>
      text
        .replaceAll(/Guest \d/g, "Guest")
        .replaceAll(/\s+/g, " ")
        .trim();
    const lines = [];
    const visit = (element) => {
      if (element.matches(".peek")) return;
      const { x, y, width, height } = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const own = element.closest("[role=timer], p.code");
      const attributes = own
        ? []
        : [...element.attributes].map((one) => `${one.name}=${anonymous(one.value)}`).sort();
      const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
      lines.push(
        [
          element.tagName,
          ...attributes,
          own ? "" : anonymous(texts.map((node) => node.data).join(" ")),
          [x, y, width, height].map(Math.round),
          style.color,
          style.backgroundColor,
          style.opacity,
          style.animationName,
          style.cursor,
        ].join(" | "),
      );
      for (const child of element.children) visit(child);
    };
    visit(document.body);
    return lines;
  });
}

/** The pages of some phones look the same, once all have got there. */
async function assertAlike(phones, what) {
  for (const phone of phones) {
    await phone.page.mouse.move(0, 0);
    await phone.page.evaluate(() => {
      window.scrollTo(0, 0);
      // What has the focus follows from what was tapped last.
      document.activeElement?.blur();
      // The font may come a moment later to one of them.
      return Promise.all([document.fonts.ready, ...document.getAnimations().map((one) => one.finished)]);
    });
  }
  const [first, ...others] = await Promise.all(phones.map((phone) => outside(phone.page)));
  for (const other of others) assert.deepEqual(other, first, what);
}

test("a phone never gives its owner away", { timeout: 600_000 }, async () => {
  const host = await visitor(browser, { host: arena.host });
  const options = { "Antibodies of each human": 1, "Viruses of each zombie": 1, "Seconds to answer": 300 };
  const id = await openRoom(host.page, options);
  const phones = [];
  const shaken = "window.shaken = []; navigator.vibrate = (how) => shaken.push(how)";
  for (const number of [1, 2, 3, 4]) phones.push(await join(id, `Guest ${number}`, shaken));
  await phones[0].page.getByText("4 players").waitFor();
  await assertAlike(phones, "before the start");
  await host.page.getByRole("button", { name: "Start the game" }).click();
  await host.page.getByRole("heading", { name: "Turn 1 of 5" }).waitFor();
  const judged = await (await host.context.request.get(`${arena.url}/api/party/${id}/judge`)).json();
  const zombie = phones[judged.players.findIndex((player) => player.role === "zombie")];
  const [human, other, last] = phones.filter((phone) => phone !== zombie);
  const pairs = [
    [zombie, other],
    [human, last],
  ];
  const both = [zombie, human];
  /** All do the same, and then their pages are compared. */
  const each = async (what, act) => {
    for (const [one, two] of pairs) await act(one.page, one, two);
    await assertAlike(both, what);
  };
  const button = (page, name) => page.getByRole("button", { name, exact: true });
  const hold = "Hold to peek";

  await each("at the start", (page) => button(page, hold).waitFor());
  await each("somebody is picked", (page, _, two) => button(page, two.name).click());
  await each("somebody is asked", async (page, _, two) => {
    await button(page, `Ask ${two.name}`).click();
    await page.getByText("You want to meet").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
  await each("they meet", async (page, one, two) => {
    await button(two.page, `Meet ${one.name}`).click();
    await page.getByRole("heading", { name: `You meet ${two.name}` }).waitFor();
  });
  await assertAlike([other, last], "they meet");

  // Whoever holds the button learns it, and only as long as they hold it.
  for (const phone of both) {
    const told = phone.page.getByRole("group", { name: "Who you are" });
    const dialog = phone.page.getByRole("dialog");
    assert.equal(await told.count(), 0);
    await dialog.getByRole("button", { name: hold }).hover();
    await phone.page.mouse.down();
    await told.getByText(phone === zombie ? "Zombie" : "Human", { exact: true }).waitFor();
    await picture(phone.page, `party-peek-${phone === zombie ? 1 : 0}`);
    await phone.page.mouse.up();
    await told.waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: hold }).focus();
    await phone.page.keyboard.down("Space");
    await told.waitFor();
    await phone.page.keyboard.up("Space");
    await told.waitFor({ state: "detached" });
    await phone.page.reload();
    await dialog.waitFor();
    assert.equal(await told.count(), 0);
  }

  // Without a network, what is wrong stands on the sheet that is open.
  await each("the network is gone", async (page, one) => {
    await one.context.setOffline(true);
    await button(page, "One virus more").click();
    await button(page, "2 viruses").click();
    await page.getByRole("dialog").getByText("the arena cannot be reached").waitFor();
  });
  await each("something is committed", async (page, one) => {
    await one.context.setOffline(false);
    await button(page, "2 viruses").click();
    await page.getByText("Waiting for the other player.").waitFor();
    await page.getByRole("dialog").getByRole("alert").waitFor({ state: "detached" });
  });
  await each("they have met", async (page, _, two) => {
    await button(two.page, "A precaution").click();
    await page.getByText(`You have met ${two.name}.`).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
  await each("the antidote", (page) => button(page, "Antidote").click());
  await each("the antidote is taken", async (page) => {
    await button(page, "Take it").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
  await each("the rules", (page) => button(page, "Rules").click());
  await each("after the rules", async (page) => {
    await page.getByRole("heading", { name: "1. Meet somebody in every turn" }).waitFor();
    await button(page, "Back").click();
  });
  await each("the code", (page) => button(page, "Show or type a code").click());
  await each("the turn is ended", async (page, one) => {
    await page.keyboard.press("Escape");
    await endTurn(one);
    await page.getByText("You have ended your turn.").waitFor();
  });
  for (const phone of [other, last]) await endTurn(phone);
  for (const phone of phones) await phone.page.getByText("Turn 2 of 5").waitFor();
  await assertAlike(phones, "the next turn");
  const shakes = await Promise.all(both.map((phone) => phone.page.evaluate("shaken")));
  assert.ok(shakes[0].length > 0);
  assert.deepEqual(shakes[0], shakes[1]);
});

test("the host's desk works with the keyboard alone", async () => {
  const { page, context, problems } = await visitor(browser, { host: arena.host, expected });
  const id = await openRoom(page);
  const press = async (name) => {
    const button = page.getByRole("button", { name, exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
  };
  await page.getByLabel("Bots").fill("3");
  await press("Add");
  await page.getByRole("heading", { name: "3 players joined" }).waitFor();
  await press("Start the game");
  await page.getByRole("heading", { name: "Turn 1 of 4" }).waitFor();
  await press("Change Bot Ada");
  await page.getByRole("heading", { name: "Bot Ada", exact: true }).waitFor();
  await inspect(page, "party-host-player");
  await press("Give the seat to a person");
  const link = await page.getByRole("link", { name: /#seat=/ }).getAttribute("href");
  await page.keyboard.press("Escape");
  const phone = await visitor(browser, { width: 360, height: 740 });
  await phone.page.goto(link);
  await phone.page.getByRole("button", { name: "Take the seat" }).click();
  await phone.page.getByRole("heading", { name: "Bot Ada", level: 1 }).waitFor();
  await press("Show the judge's view");
  await page.getByRole("heading", { name: "The judge's view" }).waitFor();
  await inspect(page, "party-host-judge");
  // A sheet covers the page, so it tells what goes wrong meanwhile.
  await page.route("**/api/party/*/stream*", (route) => route.abort("internetdisconnected"));
  await context.setOffline(true);
  const lost = page.getByRole("dialog").getByText("The connection is lost");
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await lost.waitFor();
  await page.unroute("**/api/party/*/stream*");
  await context.setOffline(false);
  await lost.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await press("Close the room");
  await page.getByRole("dialog").getByRole("button", { name: "Close the room" }).focus();
  await page.keyboard.press("Enter");
  await phone.page.getByText("The room is closed.").waitFor();
  assert.deepEqual([...problems, ...phone.problems], []);
  assert.ok(id);
});

test("a stranger finds the room by its code, and only what everybody may see", async () => {
  const host = await visitor(browser, { host: arena.host });
  const id = await openRoom(host.page);
  const { page, problems } = await visitor(browser, { expected: ["404"] });
  await page.goto(`${arena.url}/party`);
  await inspect(page, "party");
  await page.getByLabel("The code on the wall").fill("AAAAA");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("The code on the wall").fill(id.toLowerCase());
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByLabel("Your name").waitFor();
  await inspect(page, "party-phone-join");
  await page.goto(`${arena.url}/party/${id}/host`);
  await page.getByRole("heading", { name: "This page is for the host" }).waitFor();
  assert.deepEqual(problems, []);
});
