// Tournaments from the page: set up, started, watched to the end, reloaded in the middle, seen by a second viewer, killed and resumed;
// shows with a featured match, the podium and the race.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { inspect, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

const bots = path.resolve(import.meta.dirname, "../../bots");
const list = path.join(scratch(), "bots.toml");
// A first bot with a common mistake.
writeFileSync(path.join(path.dirname(list), "novice.py"), "import numpie\n");
// One that writes a log.
writeFileSync(
  path.join(path.dirname(list), "chatty.py"),
  `import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print("a match with seed", message["seed"], file=sys.stderr, flush=True)
    elif message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "decide":
        action = {"type": "stop" if message["view"]["turn"]["brains"] else "go"}
        print(json.dumps({"id": message["id"], "action": action}), flush=True)
`,
);
writeFileSync(
  list,
  [
    `[[bot]]\nname = "snake"\nrun = "${bots}/python/zombie_dice.py"\n`,
    `[[bot]]\nname = "clumsy"\nrun = "${bots}/misbehaving/crash.py"\ngames = ["zombie-dice"]\n`,
    `[[bot]]\nname = "novice"\nrun = "./novice.py"\ngames = ["zombie-dice"]\n`,
    `[[bot]]\nname = "chatty"\nrun = "./chatty.py"\ngames = ["zombie-dice"]\n`,
  ].join("\n"),
);

let arena, browser;
before(async () => {
  [arena, browser] = await Promise.all([startArena({ args: ["--bots", list] }), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** Fills in the form and starts; gives the address of the tournament. */
async function start(page, { game, blocks }) {
  await page.goto(`${arena.url}/tournaments/new`);
  await page.getByRole("combobox", { name: "Game", exact: true }).selectOption(game);
  await page.getByRole("spinbutton", { name: /^Blocks/ }).fill(String(blocks));
  await page.getByLabel("Seed").fill("7");
  await page.getByRole("button", { name: "Start the tournament" }).click();
  await page.waitForURL(/\/tournaments\/\d+$/);
  return page.url();
}

const state = (page, words) => page.locator(".sub .chip", { hasText: words });

test("a tournament is started from the page and watched to the end, by two", async () => {
  const host = await visitor(browser, { host: arena.host });
  const guest = await visitor(browser);
  await host.page.goto(`${arena.url}/tournaments/new`);
  await host.page.getByText("Options of the rules").first().click();
  await inspect(host.page, "tournament-new");
  const address = await start(host.page, { game: "zombie-dice-race", blocks: 4000 });
  await guest.page.goto(address);
  for (const { page } of [host, guest]) {
    await state(page, "finished").waitFor();
    await page.getByText("4,000 of 4,000 blocks").waitFor();
    await page.getByRole("heading", { name: "Standings" }).waitFor();
  }
  const standings = (page) => page.locator("ol > li .who strong").allTextContents();
  assert.equal((await standings(host.page)).length, 4, "the line-up of the game");
  assert.deepEqual(await standings(host.page), await standings(guest.page));
  const shares = await guest.page
    .getByRole("region", { name: "Who beats whom" })
    .locator("td")
    .allTextContents();
  // With its interval, for whoever has no mouse.
  assert.equal(shares.filter((share) => /^\d+%\d+–\d+%$/.test(share)).length, 12);
  assert.ok((await guest.page.locator(".frame canvas").boundingBox()).width > 200, "the ratings are drawn");
  await guest.page.getByRole("button", { name: "Rating", exact: true }).click();
  await inspect(guest.page, "tournament");

  await guest.page.getByRole("button", { name: "Last", exact: true }).click();
  await guest.page.getByRole("link", { name: "Watch match 3999.11" }).click();
  await guest.page.waitForURL(/matches\/3999\/11$/);
  await guest.page.getByRole("heading").first().waitFor();

  // Searched and sorted; the way leads on in the same order, and back to the same place.
  await guest.page.goto(address);
  const listed = guest.page.getByRole("region", { name: "Matches" });
  await guest.page.getByLabel("Entry").selectOption("greedy");
  await guest.page.getByLabel("Result").selectOption("won");
  await guest.page.getByText(/^1 to 12 of (?!48,000)/).waitFor();
  const sorted = guest.page.waitForResponse((response) => /sort=turns/.test(response.url()));
  await guest.page.getByRole("button", { name: /^Turns/ }).click();
  await guest.page.waitForURL(/entry=greedy&result=won&sort=turns$/);
  const longest = Math.max(...(await (await sorted).json()).matches.map(({ turns }) => turns));
  const turnsOf = async () => {
    const cells = await listed.locator("tbody tr td:nth-child(3)").allTextContents();
    return cells.map(Number);
  };
  await guest.page.waitForFunction(() => document.querySelector("th[aria-sort]")?.ariaSort === "descending");
  await listed.locator(`tbody tr:first-child td:nth-child(3):text-is("${longest}")`).waitFor();
  const turns = await turnsOf();
  assert.deepEqual(
    turns,
    turns.toSorted((a, b) => b - a),
  );
  await guest.page.getByRole("button", { name: "Later", exact: true }).click();
  await guest.page.getByText(/^13 to 24/).waitFor();
  const links = await listed.getByRole("link").evaluateAll((all) => all.map((one) => one.pathname));
  await listed.getByRole("link").nth(4).scrollIntoViewIfNeeded();
  const scrolled = await guest.page.evaluate(() => window.scrollY);
  assert.ok(scrolled > 200);
  await listed.getByRole("link").nth(4).click();
  await guest.page.waitForURL((url) => url.pathname === links[4]);
  await guest.page.getByRole("link", { name: "Next match" }).click();
  await guest.page.waitForURL((url) => url.pathname === links[5]);
  await guest.page.getByRole("link", { name: "Previous match" }).click();
  await guest.page.waitForURL((url) => url.pathname === links[4]);
  await guest.page.getByRole("heading", { level: 1 }).waitFor();
  for (let i = 0; i < 3; i++) await guest.page.goBack();
  await guest.page.getByText(/^13 to 24/).waitFor();
  assert.equal(await guest.page.getByLabel("Entry").inputValue(), "greedy");
  await guest.page.waitForFunction((top) => Math.abs(window.scrollY - top) < 40, scrolled);

  // The moments lead into the films, to the step that they are about.
  const moments = guest.page.getByRole("region", { name: "Moments" });
  await moments.getByRole("button", { name: "Worst decision" }).click();
  const worst = moments.getByRole("link").first();
  assert.equal(await moments.getByRole("link").count(), 5);
  await worst.click();
  await guest.page.waitForURL(/matches\/\d+\/\d+#step=\d+$/);
  await guest.page.locator(".verdict.costly").waitFor();
  const named = guest.page.getByRole("link", { name: /^Worst decision/ });
  assert.equal(await named.getAttribute("aria-current"), "step");
  await guest.page.getByRole("link", { name: /^Luckiest roll/ }).click();
  await guest.page.waitForURL(/#moment=luck$/);
  await guest.page.getByRole("link", { name: /^Luckiest roll/, current: "step" }).waitFor();
  await inspect(guest.page, "match-moments");

  await guest.page.goto(arena.url);
  await guest.page.getByRole("heading", { name: "Recent tournaments" }).waitFor();
  await inspect(guest.page, "home");
  await guest.page.goto(`${arena.url}/tournaments`);
  await guest.page.locator("a.line").first().waitFor();
  await inspect(guest.page, "tournaments");
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("a long one survives a reload, a pause, and a kill of the arena", async () => {
  // A lost connection is what this test provokes.
  const expected = ["ERR_CONNECTION", "ERR_INCOMPLETE", "Failed to load resource", "ERR_EMPTY"];
  const host = await visitor(browser, { host: arena.host, expected });
  const guest = await visitor(browser, { expected });
  const address = await start(host.page, { game: "tokyo", blocks: 9_000_000 });
  await guest.page.goto(address);
  const played = async (page) => {
    const text = await page.getByText(/ of 9,000,000 blocks/).textContent();
    return Number(text.split(" ")[0].replaceAll(",", ""));
  };
  await host.page.getByRole("heading", { name: "Standings" }).waitFor();
  const before = await played(host.page);
  await host.page.reload();
  await state(host.page, "running").waitFor();
  assert.ok((await played(host.page)) >= before, "a reload loses nothing");
  await host.page.getByRole("heading", { name: "Standings" }).waitFor();
  await inspect(host.page, "tournament-running");

  assert.equal(await guest.page.getByRole("button", { name: "Pause" }).count(), 0, "guests only watch");
  await host.page.getByRole("button", { name: "Pause" }).click();
  await state(guest.page, "paused").waitFor();
  await host.page.getByRole("button", { name: "Resume" }).click();
  await state(guest.page, "running").waitFor();

  const { store, port } = arena;
  await arena.kill();
  await guest.page.getByText("connection lost").waitFor();
  arena = await startArena({ store, port, args: ["--bots", list] });
  await guest.page.getByText("connection lost").waitFor({ state: "detached" });
  await state(guest.page, "running").waitFor();
  assert.ok((await played(guest.page)) >= before, "what was shown is kept");

  await host.page.getByRole("button", { name: "Cancel" }).click();
  await host.page.getByRole("button", { name: "Really end it" }).click();
  await state(guest.page, "cancelled").waitFor();
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("programs of the host take part by name, and what they do wrong is told", async () => {
  const host = await visitor(browser, { host: arena.host });
  const guest = await visitor(browser);
  await host.page.goto(`${arena.url}/tournaments/new?game=zombie-dice`);
  await host.page.getByLabel("Bot 1").selectOption("snake");
  await host.page.getByLabel("Bot 2").selectOption("clumsy");
  await host.page.getByLabel("Bot 3").selectOption("novice");
  await host.page.getByLabel("Bot 4").selectOption("chatty");
  await host.page.getByRole("spinbutton", { name: /^Blocks/ }).fill("3");
  await host.page.getByRole("button", { name: "Start the tournament" }).click();
  await state(host.page, "finished").waitFor({ timeout: 60_000 });
  await host.page.getByRole("heading", { name: "What went wrong" }).waitFor();
  await guest.page.goto(host.page.url());
  await guest.page.getByRole("heading", { name: "What went wrong" }).waitFor();
  for (const { page } of [host, guest]) {
    await page.getByText("there is no module numpie").first().waitFor();
  }
  assert.equal((await host.page.getByText("Traceback").count()) > 0, true, "the host can read what it wrote");
  assert.equal(await guest.page.getByText("Traceback").count(), 0, "guests cannot");
  await inspect(host.page, "tournament-faults");
  // Beside the film, too: for the host.
  const list = host.page.getByRole("region", { name: "Matches" });
  const films = await list.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  const logs = host.page.getByRole("region", { name: "For the host" });
  const seeds = new Set();
  for (const film of films.slice(0, 3).reverse()) {
    await host.page.goto(`${arena.url}${film}`);
    await logs.getByText(/^What chatty wrote .* in this match$/).click();
    seeds.add(await logs.locator("pre", { hasText: /^a match with seed \d+$/ }).textContent());
  }
  assert.equal(seeds.size, 3, "each film has the lines of its own match");
  await guest.page.goto(host.page.url());
  await guest.page.getByRole("heading", { name: "All steps" }).waitFor();
  await logs.getByText("clumsy").first().waitFor();
  assert.ok((await logs.getByRole("link", { name: /^decision \d+$/ }).count()) > 0);
  assert.ok((await logs.getByText("Traceback").count()) > 0);
  await inspect(host.page, "match-logs");
  assert.equal(await guest.page.getByRole("region", { name: "For the host" }).count(), 0);
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("a show of Last Bullet features the battle", async () => {
  const host = await visitor(browser, { host: arena.host });
  await host.page.goto(`${arena.url}/tournaments/new?game=last-bullet`);
  await host.page.getByRole("spinbutton", { name: /^Blocks/ }).fill("300");
  await host.page.getByRole("combobox", { name: /^Speed/ }).selectOption("long-show");
  await host.page.getByRole("button", { name: "Start the tournament" }).click();
  const featured = host.page.getByRole("region", { name: "Featured match" });
  // Without motion it is shown at its end.
  await featured.locator(".words", { hasText: "wins" }).waitFor();
  const [, turn, last] = /^Turn (\d+) of (\d+)$/.exec(await featured.getByText(/^Turn/).textContent());
  assert.ok(turn === last && Number(last) > 0);
  const seats = await featured.locator("[data-seat]").allTextContents();
  const living = await featured.getByTestId("living").textContent();
  assert.equal(
    seats.reduce((sum, text) => sum + Number(text), 0),
    Number(living),
  );
  await inspect(host.page, "tournament-battle");
  const guest = await visitor(browser, { reducedMotion: "no-preference" });
  await guest.page.goto(host.page.url());
  await guest.page.waitForFunction(() => {
    const words = document.querySelector(".showing .number")?.textContent;
    return Number(/^Turn (\d+)/.exec(words)?.[1] ?? 0) > 1;
  });
  await host.page.getByRole("button", { name: "Cancel" }).click();
  await host.page.getByRole("button", { name: "Really end it" }).click();
  await state(host.page, "cancelled").waitFor();
  assert.deepEqual([...host.problems, ...guest.problems], []);
});

test("a show has a featured match that is shown to its end, a podium and a race", async () => {
  const host = await visitor(browser, { host: arena.host });
  const calm = await visitor(browser);
  const guest = await visitor(browser, { reducedMotion: "no-preference" });
  // Three equals change places again and again.
  await host.page.goto(`${arena.url}/tournaments/new?game=zombie-dice-race`);
  for (const [i, name] of ["Ada", "Bob", "Cleo"].entries()) {
    await host.page.getByRole("combobox", { name: `Bot ${i + 1}`, exact: true }).selectOption("greedy");
    await host.page.getByRole("textbox", { name: "Name", exact: true }).nth(i).fill(name);
  }
  await host.page.getByRole("button", { name: "Remove bot 4" }).click();
  await host.page.getByRole("spinbutton", { name: /^Blocks/ }).fill("1000");
  await host.page.getByRole("combobox", { name: /^Speed/ }).selectOption("long-show");
  await host.page.getByRole("button", { name: "Start the tournament" }).click();
  await host.page.waitForURL(/\/tournaments\/\d+$/);
  const address = host.page.url();

  // The next match is not featured before this one has ended. The clock of the page goes as the test says.
  await guest.page.clock.install();
  const comes = guest.page.waitForResponse(/\/matches\/\d+\/0\/film$/);
  await guest.page.goto(address);
  await guest.page.getByRole("heading", { name: "Featured match" }).waitFor();
  const { steps } = await (await comes).json();
  const link = guest.page.getByRole("link", { name: "Watch it from the start" });
  const first = await link.getAttribute("href");
  await guest.page.clock.pauseAt(Date.now() + 60_000);
  const words = async () => (await guest.page.locator(".showing .words").textContent()).trim();
  while (!/wins|share/i.test(await words())) {
    assert.equal(await link.getAttribute("href"), first, "it is shown to its end");
    await guest.page.clock.runFor(700);
  }
  // The arena plays by its own clock: there is another match to feature only after a while.
  let came = false;
  const next = guest.page.waitForResponse(/\/matches\/\d+\/0\/film$/).then(() => (came = true));
  while (!came) await Promise.race([guest.page.clock.runFor(1000), next]);
  await guest.page.waitForFunction(
    (first) => {
      const link = document.querySelector(".showing a");
      return link && link.getAttribute("href") !== first;
    },
    first,
    { polling: 100 },
  );
  assert.ok(steps > 0);

  await calm.page.goto(address);
  await calm.page.getByText("slow enough to watch").waitFor();
  await calm.page.getByRole("heading", { name: "Featured match" }).waitFor();
  await state(calm.page, "running").waitFor();
  await inspect(calm.page, "tournament-show");
  // A projector shows it beside the standings.
  await calm.page.setViewportSize({ width: 1920, height: 1080 });
  const box = (name) => calm.page.getByRole("region", { name }).boundingBox();
  const [standings, match] = [await box("Standings"), await box("Featured match")];
  assert.ok(match.y === standings.y && match.x > standings.x + standings.width, JSON.stringify(match));
  assert.ok(match.y < 540, JSON.stringify(match));
  assert.equal(await calm.page.getByRole("button", { name: "Play the rest at once" }).count(), 0);
  await host.page.getByRole("button", { name: "Play the rest at once" }).click();
  await state(host.page, "finished").waitFor();
  assert.equal(await host.page.getByRole("button", { name: "Play the rest at once" }).count(), 0);

  // The podium has the first of the standings in the middle, and explains shared ranks.
  const podium = host.page.getByRole("list", { name: "The first three" });
  await podium.waitFor();
  const best = await host.page.locator("ol > li .who strong").first().textContent();
  assert.equal(await podium.locator(".place-0 strong").textContent(), best);
  assert.equal(await podium.getByText("no clear difference").count(), 3);
  // Nobody is raised or called the best.
  const heights = await podium.locator(".step").evaluateAll((all) => all.map((one) => one.clientHeight));
  assert.equal(new Set(heights).size, 1, heights.join());
  const progress = host.page.getByRole("region", { name: "Progress" });
  assert.match(await progress.locator(".leader").textContent(), /^not decided$/);
  await progress.getByText(/^(Ada|Bob|Cleo), (Ada|Bob|Cleo) or (Ada|Bob|Cleo)$/).waitFor();
  await podium.getByRole("button", { name: "1–3" }).first().focus();
  await host.page.getByText("may be first, second or third").first().waitFor();
  await inspect(host.page, "tournament-podium");

  // The race, with and without motion.
  const flips = async (page) => {
    await page.addInitScript(() => {
      window.moved = [];
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (frames, options) {
        if (this.closest("[aria-label='The race']")) window.moved.push(options?.duration ?? options);
        return animate.call(this, frames, options);
      };
    });
    await page.clock.install();
    await page.goto(address);
    await page.getByRole("button", { name: "Watch the race" }).click();
    const race = page.getByRole("region", { name: "The race" });
    await race.getByRole("list", { name: "Ratings at this moment" }).waitFor();
    const block = async () => Number((await race.getByText(/^Block/).textContent()).replace(/\D/g, ""));
    const begun = await block();
    for (let i = 0; i < 50 && (await block()) <= begun; i++) await page.clock.runFor(200);
    assert.ok((await block()) > begun, "it goes on");
    if (page === calm.page) await inspect(page, "tournament-race");
    for (let i = 0; i < 30 && (await race.count()) > 0; i++) await page.clock.runFor(1000);
    await page.getByRole("list", { name: "The first three" }).waitFor();
    return (await page.evaluate(() => window.moved)).filter((duration) => duration > 0);
  };
  const moving = await visitor(browser, { reducedMotion: "no-preference" });
  assert.ok((await flips(moving.page)).length > 0, "equals change places");
  assert.deepEqual(await flips(calm.page), []);
  assert.deepEqual(
    [host, calm, guest, moving].flatMap(({ problems }) => problems),
    [],
  );
});

test("who plays alone has scores, and no ratings", async () => {
  const { page, problems } = await visitor(browser, { host: arena.host });
  await start(page, { game: "zombie-dice-solo", blocks: 200 });
  await state(page, "finished").waitFor();
  await page.getByText("Each plays alone").waitFor();
  await page.getByRole("heading", { name: "Scores over time" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Rating", exact: true }).count(), 0);
  await page.getByRole("button", { name: "Watch the race" }).click();
  const race = page.getByRole("region", { name: "The race" });
  await race.getByText("in points a match").waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  assert.ok((await race.locator("li .track").first().boundingBox()).width > 200, "bars fit on a phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const score of await race.locator("li .number").allTextContents()) assert.match(score, /^\d\.\d\d$/);
  assert.equal(await page.getByText("Elo", { exact: false }).filter({ visible: true }).count(), 0);
  await inspect(page, "tournament-solo");
  assert.deepEqual(problems, []);
});

test("a set-up says what is missing, offers what fits, and is there again after Back", async () => {
  const { page, problems } = await visitor(browser, { host: arena.host });
  await page.goto(`${arena.url}/tournaments/new`);
  await page.getByRole("combobox", { name: "Game", exact: true }).selectOption("zombie-dice-race");
  const begin = page.getByRole("button", { name: "Start the tournament" });
  const add = page.getByRole("button", { name: "Add a bot" });
  const bots = async () => page.getByLabel(/^Bot \d/).evaluateAll((all) => all.map((one) => one.value));
  const formats = page.getByRole("combobox", { name: /^Format/ }).locator("option");
  assert.deepEqual(await formats.allTextContents(), [
    "Everybody against everybody",
    "The first against each of the others",
  ]);
  for (let i = 0; i < 3; i++) await page.getByRole("button", { name: "Remove bot 1", exact: true }).click();
  await page.getByText("A tournament of Zombie Dice, race needs 1 more bot.").waitFor();
  assert.ok(await begin.isDisabled());
  await inspect(page, "tournament-new-dead");

  // Bots come with parameters that suit them: without any this one would never stop.
  await page.getByRole("combobox", { name: "Bot 1", exact: true }).selectOption("random");
  await add.click();
  await page.getByRole("combobox", { name: "Bot 2", exact: true }).selectOption("stop-at");
  assert.equal(await page.getByLabel(/^brains/).inputValue(), "5");
  // Two can sit at one table.
  assert.equal(await formats.count(), 3);
  await page.getByRole("combobox", { name: /^Format/ }).selectOption("table");
  await add.click();
  await page.getByText("has 2 seats at most: remove 1 bot, or choose another format").waitFor();
  assert.ok(await begin.isDisabled());
  await page.getByRole("combobox", { name: /^Format/ }).selectOption("round-robin");
  await page.getByRole("combobox", { name: /^Stop/ }).selectOption("test");
  await page.getByText("A test compares 2 entries, not 3").waitFor();
  assert.ok(await begin.isDisabled());
  await page.getByRole("combobox", { name: /^Stop/ }).selectOption("blocks");
  const chosen = await bots();
  assert.equal(chosen.length, 3);

  // What only the arena can know is told where it was asked for.
  for (const place of [0, 1])
    await page.getByRole("textbox", { name: "Name", exact: true }).nth(place).fill("Ada");
  await begin.click();
  assert.match(await page.getByRole("alert").textContent(), /taken/);
  assert.match(page.url(), /\/tournaments\/new/);
  await page.getByRole("textbox", { name: "Name", exact: true }).nth(1).fill("Bob");
  await page.getByRole("spinbutton", { name: /^Blocks/ }).fill("3");
  await begin.click();
  await page.waitForURL(/\/tournaments\/\d+$/);
  await page.goBack();
  await begin.waitFor();
  assert.deepEqual(await bots(), chosen);
  assert.equal(await page.getByRole("textbox", { name: "Name", exact: true }).nth(1).inputValue(), "Bob");
  assert.equal(
    await page.getByRole("combobox", { name: "Game", exact: true }).inputValue(),
    "zombie-dice-race",
  );
  await page.getByRole("button", { name: "Reset" }).click();
  assert.equal((await bots()).length, 4);
  // The line-up has names, and how much is played is said.
  assert.equal(await page.getByRole("textbox", { name: "Name", exact: true }).nth(3).inputValue(), "patient");
  assert.equal(await page.getByRole("spinbutton", { name: /^Blocks/ }).getAttribute("placeholder"), "5,000");
  await page.getByText("60,000 in all").waitFor();

  await page.getByRole("combobox", { name: "Game", exact: true }).selectOption("zombie-dice-solo");
  await page.getByText("Each plays alone, with the same dice.").waitFor();
  assert.equal(await page.getByRole("combobox", { name: /^Format/ }).count(), 0);
  assert.deepEqual(
    problems.filter((problem) => !problem.includes("400")),
    [],
  );
  const stranger = await visitor(browser);
  await stranger.page.goto(`${arena.url}/tournaments/new`);
  await stranger.page.getByText("Only the host can start a tournament").waitFor();
});
