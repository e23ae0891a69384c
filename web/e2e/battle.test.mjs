// A battle of Last Bullet on the page of replays: wound to and fro, followed, zoomed, by mouse and by keyboard.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { inspect, necrodome, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

const BOTS = ["gunner", "runner", "huddle", "wander", "stand-still"];
let arena, browser, file, film;
before(async () => {
  file = path.join(scratch(), "battle.replay");
  const options = ["--seed", "7", "--set", "copies=60", "--set", "density=0.03", "--quiet", "--replay", file];
  execFileSync(necrodome, ["match", "last-bullet", ...BOTS, ...options]);
  [arena, browser] = await Promise.all([startArena(), openBrowser()]);
  const headers = { "content-type": "application/octet-stream", origin: arena.url };
  const answer = await fetch(`${arena.url}/api/film`, { method: "POST", headers, body: readFileSync(file) });
  assert.equal(answer.status, 200);
  film = await answer.json();
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** Opens the battle. */
async function watch({ hash = "", ...more } = {}) {
  const guest = await visitor(browser, more);
  await guest.page.goto(`${arena.url}/replay${hash}`);
  await guest.page.locator("input[type=file]").setInputFiles(file);
  await guest.page.getByTestId("step").waitFor();
  return { ...guest, turn: () => number(guest.page.getByTestId("step")) };
}

const number = async (locator) => Number(await locator.textContent());

const living = (curve, turn) => curve.findLast(([from]) => from <= turn)[1];

/** What the page says of a turn: the numbers are counted from the pieces that it draws. */
async function told(page) {
  const seats = BOTS.map((_, seat) => number(page.locator(`[data-seat="${seat}"]`)));
  return {
    turn: await number(page.getByTestId("step")),
    living: await Promise.all(seats),
    zombies: await number(page.getByTestId("zombies")),
    corpses: await number(page.getByTestId("corpses")),
  };
}

const recorded = (turn) => ({
  turn,
  living: film.battle.living.map((curve) => living(curve, turn)),
  zombies: film.battle.zombies[turn],
  corpses: film.battle.corpses[turn],
});

test("any turn can be shown, in any order, and is what was recorded", async () => {
  const { page, problems } = await watch();
  const last = film.battle.turns;
  assert.ok(last > 130, `a battle of ${last} turns is too short for this test`);
  const slider = page.getByRole("slider", { name: "Turn" });
  const middle = Math.floor(last / 2);
  for (const turn of [middle, 0, last, middle + 1, middle, middle - 1, 64, 63, 65, 127, 128, 1]) {
    await slider.fill(String(turn));
    assert.deepEqual(await told(page), recorded(turn));
  }
  for (let turn = 0; turn <= last; turn += 7) {
    await slider.fill(String(turn));
    assert.deepEqual(await told(page), recorded(turn));
  }
  await slider.fill(String(middle));
  await page.waitForURL((url) => url.hash === `#turn=${middle}`);
  await inspect(page, "battle");
  assert.deepEqual(problems, []);
});

/** The format of the film once more, without anything that makes it fast: all pieces after each turn. */
function unpacked({ side, copies, turns, stream, living }) {
  const bytes = [...Buffer.from(stream, "base64")];
  const varint = () => {
    let [number, weight, byte] = [0, 1, 0];
    do {
      byte = bytes[at++];
      number += (byte % 128) * weight;
      weight *= 128;
    } while (byte >= 128);
    return number;
  };
  const many = (count, make) => Array.from({ length: count }, make);
  const list = () => {
    let next = 0;
    return many(varint(), () => (next += varint() + 1) - 1);
  };
  const onSquare = (square, who, bullets) => ({
    x: square % side,
    y: Math.floor(square / side),
    who,
    bullets,
  });
  let at = 0;
  const pieces = many(living.length * copies, (_, i) => onSquare(varint(), 2 + Math.floor(i / copies), 3));
  return many(turns + 1, () => {
    many(varint(), () => [varint(), varint()]);
    for (const i of list()) pieces[i].who = 1;
    const walking = pieces.filter((piece) => piece.who !== 1);
    walking.forEach((piece, i) => {
      const word = bytes[at + 2 * Math.floor(i / 5)] + 256 * bytes[at + 2 * Math.floor(i / 5) + 1];
      const digit = Math.floor(word / 9 ** (i % 5)) % 9;
      piece.x = (piece.x + side + (digit % 3) - 1) % side;
      piece.y = (piece.y + side + Math.floor(digit / 3) - 1) % side;
    });
    at += 2 * Math.ceil(walking.length / 5);
    const risen = varint() - 1;
    if (risen === pieces.length) pieces.push(onSquare(varint(), 0, 0));
    if (risen >= 0) pieces[risen].who = 0;
    for (const i of list()) pieces[i].who = 0;
    for (const i of list()) pieces[i].bullets = varint();
    return pieces.map((piece) => ({ ...piece }));
  });
}

test("whoever is followed is where it was recorded, whatever becomes of it", async () => {
  const { page, problems } = await watch();
  const all = unpacked(film.battle);
  const slider = page.getByRole("slider", { name: "Turn" });
  const portrait = page.locator(".portrait");
  const kinds = new Set();
  for (const [seat, name] of BOTS.entries()) {
    await slider.fill("0");
    await page.getByTestId("follow").selectOption({ label: "nobody" });
    await page.getByTestId("follow").selectOption({ label: `a survivor of ${name}` });
    const copy = Number(new RegExp(`${name} (\\d+) lives`).exec(await portrait.textContent())[1]);
    for (const turn of [0, 1, 5, 100, 63, 64, 20, 40, film.battle.turns, 2]) {
      await slider.fill(String(turn));
      const { x, y, who, bullets } = all[turn][seat * film.battle.copies + copy - 1];
      const carried = `${bullets} ${bullets === 1 ? "bullet" : "bullets"}`;
      const state =
        who === 0
          ? `is a zombie now, at ${x}, ${y};`
          : who === 1
            ? `is a corpse at ${x}, ${y}.`
            : `lives at ${x}, ${y} with ${carried};`;
      const said = (await portrait.textContent()).replace(/\s+/g, " ");
      assert.ok(said.includes(`${name} ${copy} ${state}`), `turn ${turn}: ${said}, expected ${state}`);
      kinds.add(Math.min(who, 2));
    }
  }
  assert.ok(kinds.size >= 2, "somebody was lost");
  assert.deepEqual(problems, []);
});

test("a link opens at its turn, an event and the curves lead to theirs", async () => {
  const { page, turn, problems } = await watch({ hash: "#turn=33" });
  await page.waitForFunction(() => document.querySelector("[data-testid=step]").textContent === "33");
  const notable = film.battle.notable.at(-1);
  const events = page.getByRole("list", { name: "Moments" });
  const said = (await events.getByRole("link").last().textContent()).replace(/\s+/g, " ");
  const words = notable.told.text.map((span) => span.text).join("");
  assert.ok(said.includes(words), `${said}: ${words}`);
  await page.getByText(film.result, { exact: true }).waitFor();
  await events.getByRole("link").last().click();
  assert.equal(await turn(), notable.turn);
  // Whoever listens hears it, too.
  await page.locator(".battle p.sr-only", { hasText: words }).waitFor({ state: "attached" });
  const curves = page.getByRole("img", { name: /Curves of the populations/ });
  const box = await curves.boundingBox();
  await curves.click({ position: { x: box.width / 2, y: box.height / 2 } });
  const middle = film.battle.turns / 2;
  assert.ok(Math.abs((await turn()) - middle) < film.battle.turns / 10, `${await turn()} of ${middle * 2}`);
  // Moments of one kind, of one entry; the best of a kind is found by its name.
  const hits = film.battle.notable.filter(({ kind }) => kind === "hits");
  await page.getByLabel("Kind of moment").selectOption({ label: "Most hits" });
  assert.equal(await events.getByRole("link").count(), hits.length);
  assert.equal(await events.getByRole("link").last().getAttribute("href"), "#moment=hits");
  const { seat } = hits.at(-1).told;
  await page.getByLabel("Whose moments").selectOption({ label: `of ${BOTS[seat]}` });
  assert.equal(await events.getByRole("link").count(), hits.filter(({ told }) => told.seat === seat).length);
  await page.evaluate(() => (location.hash = "#moment=hits"));
  await page.waitForFunction(
    (turn) => document.querySelector("[data-testid=step]").textContent === turn,
    String(hits.at(-1).turn),
  );
  assert.deepEqual(problems, []);
});

test("the keyboard plays, steps, follows and zooms", async () => {
  const { page, turn, problems } = await watch({ reducedMotion: "no-preference" });
  const becomes = (wanted) =>
    page.waitForFunction(
      (text) => document.querySelector("[data-testid=step]").textContent === text,
      String(wanted),
    );
  await page.keyboard.press("ArrowRight");
  await becomes(1);
  await page.keyboard.press("Shift+ArrowRight");
  await becomes(11);
  await page.keyboard.press("ArrowLeft");
  await becomes(10);
  await page.keyboard.press("End");
  await becomes(film.battle.turns);
  await page.keyboard.press("Home");
  await becomes(0);

  // Whoever listens hears where it stands.
  await page.getByText(new RegExp(`^Turn 0 of ${film.battle.turns}: \\d+ survivors`)).waitFor();

  await page.keyboard.press("n");
  const portrait = page.locator(".portrait");
  const first = await portrait.textContent();
  assert.match(first, /gunner \d+ lives at \d+, \d+ with 3 bullets; sees/);
  await page.keyboard.press("n");
  assert.notEqual(await portrait.textContent(), first);
  await page.keyboard.press("Escape");
  assert.equal(await portrait.count(), 0);

  // On the field itself, arrows move it and not the time.
  const field = page.getByLabel(/^The field\./);
  const picture = () => field.evaluate((canvas) => canvas.toDataURL());
  const whole = await picture();
  await page.keyboard.press("+");
  const near = await picture();
  assert.notEqual(near, whole);
  await field.focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await picture(), near);
  assert.equal(await turn(), 0);
  await page.keyboard.press("0");

  await page.keyboard.press(" ");
  await becomes(5);
  await page.keyboard.press(" ");
  const stopped = await turn();
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  assert.equal(await turn(), stopped);
  assert.deepEqual(problems, []);
});

test("a click follows whom it hits; the wheel and the mouse move the field", async () => {
  const { page, problems } = await watch();
  const field = page.getByLabel(/^The field\./);
  await page.getByTestId("follow").selectOption({ label: "a survivor of runner" });
  const portrait = page.locator(".portrait");
  const [, name, x, y] = /(runner \d+) lives at (\d+), (\d+)/.exec(await portrait.textContent());
  await page.keyboard.press("Escape");
  assert.equal(await portrait.count(), 0);

  // From the whole field, whose corner is the origin once it is dragged there.
  await page.getByRole("button", { name: "All" }).click();
  const picture = () => field.evaluate((canvas) => canvas.toDataURL());
  const box = await field.boundingBox();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  const before = await picture();
  await page.mouse.move(...middle);
  await page.mouse.down();
  await page.mouse.move(middle[0] + 60, middle[1] + 40, { steps: 5 });
  await page.mouse.up();
  const dragged = await picture();
  assert.notEqual(dragged, before);
  await page.mouse.wheel(0, -400);
  assert.notEqual(await picture(), dragged);

  // The one that was followed stands in the middle now: follow it again by a click.
  await page.getByTestId("follow").selectOption({ label: "a survivor of runner" });
  const shownAgain = /(runner \d+) lives/.exec(await portrait.textContent())[1];
  assert.equal(shownAgain, name);
  await page.keyboard.press("Escape");
  await field.click({ position: { x: box.width / 2, y: box.height / 2 } });
  assert.ok((await portrait.textContent()).includes(`${name} lives at ${x}, ${y}`));
  assert.ok(Number(x) < film.battle.side && Number(y) < film.battle.side);
  assert.deepEqual(problems, []);
});

test("a picture is drawn for every frame while it plays slowly", async () => {
  const guest = await visitor(browser, { reducedMotion: "no-preference" });
  await guest.page.addInitScript(() => {
    window.drawn = 0;
    const fill = CanvasRenderingContext2D.prototype.setTransform;
    CanvasRenderingContext2D.prototype.setTransform = function (...matrix) {
      window.drawn++;
      return fill.apply(this, matrix);
    };
  });
  await guest.page.goto(`${arena.url}/replay`);
  await guest.page.locator("input[type=file]").setInputFiles(file);
  await guest.page.getByTestId("step").waitFor();
  await guest.page.getByRole("button", { name: "Play", exact: true }).click();
  const { frames, drawn } = await guest.page.evaluate(
    () =>
      new Promise((resolve) => {
        const before = window.drawn;
        let frames = 0;
        requestAnimationFrame(function frame() {
          frames++;
          if (frames < 60) requestAnimationFrame(frame);
          else resolve({ frames, drawn: window.drawn - before });
        });
      }),
  );
  assert.ok(drawn > 0.8 * frames, `${drawn} pictures in ${frames} frames`);
  assert.ok((await number(guest.page.getByTestId("step"))) > 0);
  assert.deepEqual(guest.problems, []);
});

test("one survivor is steered among bots, by key, by pad and by click, to the end", async () => {
  const { page, problems } = await visitor(browser);
  await page.goto(`${arena.url}/play?game=last-bullet`);
  await page.getByRole("textbox", { name: /name/i }).first().fill("Ada");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const orders = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/act")) orders.push(...request.postDataJSON().action.orders);
  });
  const steering = page.getByRole("region", { name: "Your survivor" });
  const clock = page.getByTestId("clock");
  await clock.waitFor();
  /** Does something; true while there is a survivor to steer afterwards. */
  const turn = async (act) => {
    const before = await clock.textContent();
    await act();
    await page.waitForFunction((before) => {
      const now = document.querySelector("[data-testid=clock]");
      return now === null || now.textContent !== before;
    }, before);
    // Whoever was steered has died, and others are left.
    const another = page.getByRole("button", { name: "Go on with another" });
    if ((await another.count()) > 0) {
      await another.click();
      await clock.waitFor();
    }
    return (await clock.count()) > 0;
  };
  let alive = await turn(() => page.keyboard.press("ArrowUp"));
  assert.equal(await number(clock), 1);
  await inspect(page, "steering");
  if (alive) alive = await turn(() => page.getByRole("group", { name: "Step" }).getByLabel("Stay").click());
  if (alive) alive = await turn(() => page.locator(".squares .step").first().click());
  let shots = 0;
  for (let i = 0; alive && i < 300; i++) {
    const targets = steering.locator(".targets button:enabled");
    if ((await targets.count()) > 0 && shots < 2) {
      alive = await turn(async () => {
        await page.keyboard.press("f");
        await page.keyboard.press("Enter");
      });
      shots++;
    } else {
      alive = await turn(() => page.keyboard.press("s"));
    }
  }
  assert.equal(alive, false, "nobody outlives a match without a limit");
  assert.deepEqual(orders[0], { type: "move", copy: 0, direction: "north" });
  assert.equal(orders.filter((order) => order.type === "shoot").length, shots);

  // What was steered is there to be watched.
  await page.getByRole("link", { name: "Watch the replay" }).click();
  await page.getByTestId("step").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL((url) => url.hash === "#turn=1");
  assert.deepEqual(problems, []);
});
