// Replays: files dropped on the page, stepping by keyboard, links to a step, files that open from disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { assertAccessible, inspect, necrodome, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

const folder = scratch();
const file = (name) => path.join(folder, name);
/** Plays a match and gives the path of its replay. */
function match(name, ...words) {
  execFileSync(necrodome, ["match", ...words, "--quiet", "--replay", file(name)]);
  return file(name);
}

/** A bot that says why, in words that would be dangerous as HTML. */
const TALKER = `import sys, json
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "decide":
        brains = message["view"]["turn"]["brains"]
        action = {"type": "go" if brains < 2 else "stop"}
        reason = "enough </script><b>brains</b>" if brains >= 2 else "still hungry"
        print(json.dumps({"type": "act", "id": message["id"], "action": action, "reason": reason}), flush=True)
`;

let arena, browser, race, tokyo, infection, solo, table, battle;
before(async () => {
  [arena, browser] = await Promise.all([startArena(), openBrowser()]);
  writeFileSync(file("talker.py"), TALKER);
  race = match(
    "race.replay",
    "zombie-dice-race",
    `talker=${file("talker.py")}`,
    "cautious",
    "--seed",
    "8",
    "--public-dice",
  );
  tokyo = match("tokyo.replay", "tokyo", "angry", "point-hunter", "--seed", "2");
  solo = match("solo.replay", "zombie-dice-solo", "greedy", "--seed", "5");
  table = match("table.replay", "zombie-dice", "greedy", "cautious", "random", "--seed", "5");
  const guests = ["careful", "spreader", "random", "careful", "spreader", "random", "random", "spreader"];
  infection = match("infection.replay", "infection", ...guests, "--set", "start_antibodies=2", "--seed", "2");
  battle = match("battle.replay", "last-bullet", "gunner", "runner", "--set", "copies=5", "--seed", "4");
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** Drops a file on the page as a hand would. */
async function drop(page, from) {
  const bytes = readFileSync(from).toString("base64");
  const data = await page.evaluateHandle(
    ([bytes, name]) => {
      const transfer = new DataTransfer();
      const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([raw], name));
      return transfer;
    },
    [bytes, path.basename(from)],
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: data });
}

const stepShown = async (page) => Number(await page.getByRole("slider", { name: "Step" }).inputValue());
const atStep = (page, step) =>
  page.waitForFunction((step) => document.querySelector("input[type=range]")?.value === String(step), step);
const hashIs = (page, hash) => page.waitForFunction((hash) => location.hash === hash, hash);

test("a file is dropped on the page and shown, with reasons beside the actions", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay`);
  await page.getByRole("heading", { name: "Watch a replay" }).waitFor();
  await inspect(page, "replay-drop");
  await drop(page, race);
  await page.getByRole("heading", { name: "Zombie Dice, race" }).waitFor();
  // The words of the bot are words, whatever they look like.
  await page.getByText("enough </script><b>brains</b>").first().waitFor();
  await inspect(page, "replay-race");
  assert.deepEqual(problems, []);
  await close();
});

test("it is stepped through by keyboard, and the address follows", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay#step=4`);
  await page.getByText("Drop a replay file here").waitFor();
  await drop(page, race);
  await atStep(page, 4);
  await page.keyboard.press("ArrowRight");
  await atStep(page, 5);
  await hashIs(page, "#step=5");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await atStep(page, 3);
  await page.keyboard.press("End");
  const last = Number(await page.getByRole("slider", { name: "Step" }).getAttribute("max"));
  await atStep(page, last);
  await page.keyboard.press("Home");
  await atStep(page, 0);
  // By turns: the second is of the other player.
  await page.keyboard.press("PageDown");
  const happened = page.getByRole("list", { name: "What happened in this step" });
  await happened
    .getByText(/^cautious/)
    .first()
    .waitFor();
  const second = await stepShown(page);
  assert.ok(second > 1);
  await page.getByText("turn 2 of").waitFor();
  await page.keyboard.press("PageUp");
  await atStep(page, 0);
  await hashIs(page, "#step=0");
  // A turn in the address is the step that it begins with.
  await page.evaluate(() => (location.hash = "#turn=2"));
  await atStep(page, second);
  await page.keyboard.press("Home");
  await atStep(page, 0);
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.waitForFunction(() => Number(document.querySelector("input[type=range]")?.value) >= 2);
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  // Another step in the address is another step on the page.
  await page.evaluate(() => (location.hash = "#step=7"));
  await atStep(page, 7);
  const slider = page.getByRole("slider", { name: "Step" });
  assert.match(
    await slider.getAttribute("aria-valuetext"),
    /^Step 7 of \d+: (talker|cautious) (rolls|stops)/,
  );
  assert.deepEqual(problems, []);
  await close();
});

test("the worst decisions lead to what the perfect player would do", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay`);
  await page.getByLabel("Choose a file").setInputFiles(tokyo);
  await page.getByRole("heading", { name: "The most expensive decisions" }).waitFor();
  const worst = page.getByRole("button", { name: /^Step \d+: .* the perfect player/ }).first();
  const step = Number(/Step (\d+)/.exec(await worst.textContent())[1]);
  await worst.click();
  await atStep(page, step);
  await page.getByText("A perfect player").waitFor();
  // What is unclear explains itself.
  const words = page.locator(".verdict").getByRole("button", { name: "cost" });
  await words.focus();
  await page.getByRole("tooltip").filter({ hasText: "(regret)" }).first().waitFor();
  await words.press("Escape");
  await page.locator("p", { hasText: /^Numbers are chances of winning/ }).waitFor();
  const best = page.locator("tbody tr").filter({ hasText: "best" }).first();
  const chosen = page.locator("tbody tr").filter({ hasText: "chosen" });
  const percent = async (row) => parseFloat((await row.getByRole("cell").first().textContent()).trim());
  assert.ok((await percent(best)) > (await percent(chosen)));
  // The dice that were kept are marked where they lay.
  const keeps = page.getByRole("button", { name: /^\d+ [\w-]+ keeps (?!all)/ }).first();
  const faces = /keeps ([^+-]+)/
    .exec((await keeps.textContent()).replace(/\s+/g, " "))[1]
    .trim()
    .split(" ");
  await keeps.click();
  const panel = page.locator("section", { has: page.getByRole("heading", { name: /perfect player do/ }) });
  assert.equal(await panel.getByRole("img").count(), 6);
  assert.equal(await panel.getByRole("img", { name: /, kept$/ }).count(), faces.length);
  await inspect(page, "replay-tokyo");
  assert.deepEqual(problems, []);
  await close();
});

/** The board with the scores, the controls and what happens are seen without scrolling. */
async function assertOnFirstScreen(page, what) {
  const { width, height } = page.viewportSize();
  for (const part of ["board", "controls", "now"]) {
    const box = await page.getByTestId(part).boundingBox();
    const inside = box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width;
    assert.ok(inside, `${what}: ${part} at ${JSON.stringify(box)} in ${width} x ${height}`);
  }
}

test("a step is one happening: the list, the board and the words belong to one player", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay`);
  let chooser = "Choose a file";
  for (const [from, title] of [
    [table, "Zombie Dice"],
    [tokyo, "Tokyo"],
  ]) {
    await page.getByLabel(chooser).setInputFiles(from);
    chooser = "Open another file";
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    const last = Number(await page.getByRole("slider", { name: "Step" }).getAttribute("max"));
    let decided = 0;
    // At the end nobody is to move.
    for (let step = 1; step < last; step++) {
      await page.keyboard.press("ArrowRight");
      await atStep(page, step);
      const shown = await page.evaluate(() => {
        const text = (selector) => document.querySelector(selector)?.textContent.trim();
        return {
          list: text("[data-step] [aria-current=step] b"),
          board: text("[data-testid=board] li.current .text") ?? text("[data-testid=board] li.current .name"),
          words: [
            ...document.querySelectorAll("[aria-label='What happened in this step'] li > b:first-child"),
          ].map((one) => one.textContent.trim()),
          decision: document.querySelector(".verdict")?.textContent.trim(),
        };
      });
      const where = `${title}, step ${step}: ${JSON.stringify(shown)}`;
      assert.ok(shown.list && shown.board === shown.list, where);
      assert.ok(
        shown.words.every((name) => name === shown.list),
        where,
      );
      if (shown.decision) {
        assert.ok(shown.decision.startsWith(shown.list), where);
        decided++;
      }
    }
    assert.ok(title !== "Tokyo" || decided > 5);
  }
  assert.deepEqual(problems, []);
  await close();
});

test("the mistakes of a seat are tried again, and nothing tells the answer before", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay`);
  await page.getByLabel("Choose a file").setInputFiles(tokyo);
  const begin = page.getByRole("button", { name: /^angry: \d+ mistakes$/ });
  const mistakes = Number(/(\d+) mistakes/.exec(await begin.textContent())[1]);
  assert.ok(mistakes > 1);
  await begin.click();
  const options = page.getByRole("group", { name: "What would you do?" }).getByRole("button");
  for (let number = 1; number <= mistakes; number++) {
    await page.getByText(new RegExp(`^${number} of ${mistakes}, before step`)).waitFor();
    assert.equal(await page.getByText("A perfect player").count(), 0);
    assert.equal(await page.locator(".verdict").count(), 0);
    const words = await page.getByText(`${number} of ${mistakes}, before step`).textContent();
    // The board is the one that the decision was made on.
    assert.equal(await stepShown(page), Number(/before step (\d+)/.exec(words)[1]) - 1);
    if (number === 1) await inspect(page, "replay-mistakes");
    assert.ok((await options.count()) >= 2);
    await options.first().click();
    await page.locator(".verdict", { hasText: ", which cost" }).waitFor();
    assert.equal(await page.getByRole("row").filter({ hasText: "chosen" }).count(), 1);
    assert.ok((await page.getByRole("row").filter({ hasText: "best" }).count()) >= 1);
    if (number < mistakes) await page.getByRole("button", { name: "Next", exact: true }).click();
  }
  await page.getByText(new RegExp(`^\\d+ of ${mistakes} right`)).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "What would the perfect player do?" }).waitFor();
  assert.deepEqual(problems, []);
  await close();
});

/** The first infection is found, and has an address. */
async function infectionMoments(page) {
  const first = page.getByRole("link", { name: /^First infection \S+ infected \S+ turn \d+$/ });
  await page.getByRole("link", { name: /^The finish/ }).waitFor();
  const [, other, victim] = /infection\s+(\S+) infected (\S+)\s/.exec(await first.innerText());
  assert.equal(await first.getAttribute("href"), "#moment=first");
  await first.click();
  const happened = page.getByRole("list", { name: "What happened in this step" });
  for (const name of [other, victim]) await happened.getByText(name).first().waitFor();
  await page.locator("a[aria-current=step]", { hasText: "First infection" }).waitFor();
}

test("every game can be looked at", async () => {
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${arena.url}/replay`);
  const games = [
    [race, "Zombie Dice, race", "replay-race-step"],
    [tokyo, "Tokyo", "replay-tokyo-step"],
    [solo, "Zombie Dice, solo", "replay-solo"],
    [table, "Zombie Dice", "replay-table"],
    [infection, "Infection", "replay-infection"],
    [battle, "Last Bullet", "replay-battle"],
  ];
  let chooser = "Choose a file";
  const tallest = [];
  for (const [from, title, name] of games) {
    await page.getByLabel(chooser).setInputFiles(from);
    chooser = "Open another file";
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    await page.evaluate(() => (location.hash = "#step=14"));
    await page.waitForFunction(() => Number(document.querySelector("input[type=range]")?.value) > 0);
    await assertOnFirstScreen(page, title);
    await inspect(page, name);
    if (from === infection) await infectionMoments(page);
    const bars = page.locator(".chart rect:is(.lucky, .unlucky, .cost)");
    const heights = await bars.evaluateAll((all) => all.map((one) => Number(one.getAttribute("height"))));
    if (heights.length > 0) tallest.push(Math.round(Math.max(...heights)));
  }
  // Luck and costs have one scale, whichever is larger.
  assert.equal(tallest.length, 3);
  assert.equal(new Set(tallest).size, 1, tallest.join());
  assert.deepEqual(problems, []);
  await close();
});

test("the board, the controls and the step of a crowd are on the first screen", async () => {
  const { page, problems, close } = await visitor(browser);
  const dice = ["greedy", "cautious", "random"];
  const monsters = ["angry", "point-hunter", "random"];
  const guests = ["careful", "spreader", "random"];
  const crowd = (kinds, number) => Array.from({ length: number }, (_, i) => kinds[i % kinds.length]);
  for (const [game, bots] of [
    ["zombie-dice", crowd(dice, 5)],
    ["zombie-dice", crowd(dice, 12)],
    ["tokyo", crowd(monsters, 6)],
    ["infection", crowd(guests, 30)],
  ]) {
    const what = `${game} for ${bots.length}`;
    const replay = match(`${game}-${bots.length}.replay`, game, ...bots, "--seed", "7");
    await page.goto(`${arena.url}/replay`);
    await page.getByLabel("Choose a file").setInputFiles(replay);
    const slider = page.getByRole("slider", { name: "Step" });
    // The set-up, the middle and the end.
    for (const [key, step] of [
      ["Home", () => 0],
      ["Shift+ArrowRight", () => 10],
      ["End", (last) => last],
    ]) {
      await slider.waitFor();
      await page.keyboard.press(key);
      await atStep(page, step(Number(await slider.getAttribute("max"))));
      await assertOnFirstScreen(page, `${what}, ${key}`);
    }
    await assertAccessible(page, what);
  }
  assert.deepEqual(problems, []);
  await close();
});

test("what is no replay is refused in words, and the page goes on", async () => {
  const { page, problems, close } = await visitor(browser, { expected: ["400 (Bad Request)"] });
  await page.goto(`${arena.url}/replay`);
  await page.getByText("Drop a replay file here").waitFor();
  await drop(page, file("talker.py"));
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /talker\.py: this is not a necrodome replay/);
  await assertAccessible(page);
  await drop(page, race);
  await page.getByRole("heading", { name: "Zombie Dice, race" }).waitFor();
  assert.equal(await alert.count(), 0);
  assert.deepEqual(problems, []);
  await close();
});

/** Two blocks of a race, played to the end; gives the number of the tournament. */
async function smallTournament(page) {
  const id = await page.evaluate(async () => {
    const entries = [{ bot: "greedy" }, { bot: "cautious" }];
    const body = JSON.stringify({ game: "zombie-dice-race", options: {}, entries, blocks: 2, seed: 1 });
    const headers = { "content-type": "application/json" };
    const answer = await fetch("/api/tournaments", { method: "POST", headers, body });
    return (await answer.json()).id;
  });
  await page.evaluate(async (id) => {
    const played = async () => (await (await fetch(`/api/tournaments/${id}/matches`)).json()).total;
    while ((await played()) < 4);
  }, id);
  return id;
}

test("a stored match of a tournament is shown, and its file can be taken away and dropped again", async () => {
  const { page, problems, close } = await visitor(browser, { host: arena.host });
  const id = await smallTournament(page);
  await page.goto(`${arena.url}/tournaments/${id}/matches/1/0#step=2`);
  await page.getByRole("heading", { name: "Zombie Dice, race" }).waitFor();
  await atStep(page, 2);
  await inspect(page, "match");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download the replay" }).click();
  const copy = file("copy.replay");
  await (await saved).saveAs(copy);
  await page.goto(`${arena.url}/replay`);
  await page.getByText("Drop a replay file here").waitFor();
  await drop(page, copy);
  await page.getByRole("heading", { name: "Zombie Dice, race" }).waitFor();
  assert.deepEqual(problems, []);
  await close();
});

/** A page of another site, with frames of these addresses. */
async function otherSite(...addresses) {
  const frames = addresses.map((address) => `<iframe width="900" height="700" src="${address}"></iframe>`);
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(`<!doctype html><title>A blog</title>${frames.join("")}`);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

test("a film is shared: a link, a frame for other sites, a picture, a video", async () => {
  const { page, problems, close } = await visitor(browser, {
    host: arena.host,
    // What may not be framed is refused by the browser, in words.
    expected: ["frame-ancestors", "ERR_BLOCKED_BY_RESPONSE", "chrome-error"],
  });
  const id = await smallTournament(page);
  await page.goto(`${arena.url}/tournaments/${id}/matches/1/0#step=3`);
  await atStep(page, 3);
  await page.getByText("Share", { exact: true }).click();
  const link = await page.getByLabel("Link to this step").inputValue();
  assert.equal(link, `${arena.url}/tournaments/${id}/matches/1/0#step=3`);
  const frame = await page.getByLabel("Frame for another site").inputValue();
  const source = /src="([^"]+)"/.exec(frame)[1];
  await inspect(page, "replay-share");

  // What is drawn has the font of the page inside.
  await page.evaluate(() => {
    const { set } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
    Object.defineProperty(HTMLImageElement.prototype, "src", {
      set(source) {
        window.drawn = decodeURIComponent(source);
        set.call(this, source);
      },
    });
  });
  let saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture of the board" }).click();
  assert.equal((await saved).suggestedFilename(), "necrodome-step-3.png");
  const png = readFileSync(await (await saved).path());
  assert.ok(await page.evaluate(() => /@font-face[^}]*url\("data:font\/woff2/.test(window.drawn)));
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const board = await page.getByTestId("board").boundingBox();
  assert.equal(png.readUInt32BE(16), Math.round(2 * board.width));
  // It shows the board: the colours of its dice are in it.
  const colours = await page.evaluate(async (bytes) => {
    const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([raw], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return [seen.size, seen.has(0x3fae4a) || seen.has(0xefc02d) || seen.has(0xd9453b)];
  }, png.toString("base64"));
  assert.ok(colours[0] > 50 && colours[1], String(colours));

  await page.getByLabel("to", { exact: true }).fill("4");
  saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Video of 2 s" }).click();
  assert.match((await saved).suggestedFilename(), /^necrodome-steps-3-4\.(webm|mp4)$/);
  const video = readFileSync(await (await saved).path());
  assert.ok(video.length > 5_000 && video.readUInt32BE(0) === 0x1a45dfa3, `${video.length} bytes`);

  await page.goto(source);
  await page.getByRole("link", { name: "Open on Necrodome" }).waitFor();
  await inspect(page, "embed");
  const blog = await otherSite(source, link);
  await page.goto(blog.url);
  const inside = page.frameLocator("iframe").first();
  await inside.getByRole("heading", { name: "Zombie Dice, race" }).waitFor();
  await inside.getByRole("heading", { name: /^Step 3:/ }).waitFor();
  assert.equal(
    await inside.getByRole("link", { name: "Open on Necrodome" }).getAttribute("target"),
    "_blank",
  );
  // There is no way from there to a page on which something can be done.
  const ways = await inside
    .locator("a[href]:not([target=_blank])")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.ok(
    ways.every((way) => way.startsWith("#")),
    ways.join(" "),
  );
  // The other frame shows the browser's own words.
  const refused = page.frameLocator("iframe").nth(1);
  await refused.locator("body.neterror").waitFor({ state: "attached" });
  assert.equal(await refused.getByRole("heading", { name: "Zombie Dice, race" }).count(), 0);
  assert.equal(await refused.locator("#app").count(), 0, "only the embed page may be framed");
  blog.stop();
  assert.deepEqual(problems, []);
  await close();
});

test("a match that does not exist says so", async () => {
  const { page, close } = await visitor(browser);
  await page.goto(`${arena.url}/tables/nothing/replay`);
  await page.getByRole("heading", { name: "This match cannot be shown" }).waitFor();
  await close();
});

test("a file of its own opens from disk, without a server and without a complaint", async () => {
  for (const from of [race, tokyo, infection, battle]) {
    const out = from.replace(".replay", ".html");
    execFileSync(necrodome, ["replay", from, "--html", out]);
    assert.throws(
      () => execFileSync(necrodome, ["replay", from, "--html", out], { stdio: "pipe" }),
      /--force/,
    );
    execFileSync(necrodome, ["replay", from, "--html", out, "--force"]);
    const { page, problems, close } = await visitor(browser);
    const unit = from === battle ? "turn" : "step";
    await page.goto(`${pathToFileURL(out)}#${unit}=3`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("ArrowRight");
    await hashIs(page, `#${unit}=4`);
    if (from === race) {
      assert.equal(await stepShown(page), 4);
      await page.getByText("enough </script><b>brains</b>").first().waitFor();
      await inspect(page, "replay-file");
    }
    assert.deepEqual(problems, []);
    await close();
  }
});

test("several matches are on one page, with who has won how many, one to be chosen", async () => {
  const again = match("again.replay", "zombie-dice-race", "greedy", "cautious", "--seed", "9");
  const out = file("both.html");
  execFileSync(necrodome, ["replay", race, again, "--html", out]);
  const { page, problems, close } = await visitor(browser);
  await page.goto(`${pathToFileURL(out)}#step=3`);
  await page.getByText("2 matches, won:").waitFor();
  const reason = page.getByText("enough </script><b>brains</b>");
  await reason.first().waitFor();
  await page.locator("main > label > select").selectOption({ index: 1 });
  await reason.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("ArrowRight");
  await hashIs(page, "#step=4");
  await assertAccessible(page);
  await inspect(page, "replay-several");
  assert.deepEqual(problems, []);
  await close();
});
