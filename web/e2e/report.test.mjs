// `necrodome report --html`: pages that open from disk, whatever bots are called and write.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect, necrodome, openBrowser, scratch, visitor } from "./arena.mjs";

const folder = scratch();
const file = (name) => path.join(folder, name);

/** A bot whose log, reasons and actions would be dangerous as HTML, and whose actions are not always legal. */
const HOSTILE = `import sys, json
decisions = 0
print("</pre><script>alert('log')</script>", file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "decide":
        decisions += 1
        action = {"type": "go" if message["view"]["turn"]["brains"] < 2 else "stop"}
        if decisions % 50 == 0:
            action = {"type": "<img src=x onerror=alert('fault')>"}
        reason = "</pre><script>alert('reason')</script>"
        print(json.dumps({"type": "act", "id": message["id"], "action": action, "reason": reason}), flush=True)
`;
const NAME = "<script>alert('name')";
const QUOTES = "a\"onmouseover'<b>";

let browser;
before(async () => {
  writeFileSync(file("hostile.py"), HOSTILE);
  const run = (...words) => execFileSync(necrodome, words, { cwd: folder, stdio: "pipe" });
  const common = ["--seed", "7", "--store"];
  const line_up = [`${NAME}=./hostile.py`, `${QUOTES}=greedy`, "optimal", "random"];
  run(
    "tournament",
    "zombie-dice-race",
    ...line_up,
    "--format=round-robin",
    "--blocks=10",
    ...common,
    "a.store",
  );
  run("tournament", "last-bullet", "gunner", "runner", "huddle", "--blocks=3", ...common, "b.store");
  run("report", "a.store", "--html", "race");
  run("report", "b.store", "--html", "battle");
  browser = await openBrowser();
});
after(() => browser?.close());

test("pages are text only, need no script, and fit a phone", async () => {
  const { page, problems, close } = await visitor(browser, { colorScheme: "dark" });
  const alerts = [];
  page.on("dialog", (dialog) => {
    alerts.push(dialog.message());
    return dialog.dismiss();
  });
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  for (const site of ["race", "battle"]) {
    for (const name of readdirSync(file(site))) {
      await page.goto(pathToFileURL(file(path.join(site, name))).href);
      assert.equal(await page.locator("script, img, iframe, link").count(), 0, `${site}/${name}`);
      for (const film of await page.locator("details").all()) await film.locator("summary").click();
      if (["race/index.html", "race/bot-1.html", "battle/index.html"].includes(`${site}/${name}`)) {
        await inspect(page, `report-${site}-${name.replace(".html", "")}`);
      }
    }
  }
  assert.deepEqual(alerts, []);
  assert.deepEqual(problems, []);
  assert.ok(
    requests.every((url) => url.startsWith("file:")),
    requests.join("\n"),
  );
  await close();
});

test("from the standings to a bot, its worst match and its log", async () => {
  const { page, problems, close } = await visitor(browser, { colorScheme: "light" });
  await page.goto(pathToFileURL(file("race/index.html")).href);
  assert.match(await page.locator(".trouble").innerText(), /illegal/);
  await page.getByRole("region", { name: "table of standings" }).getByRole("link", { name: NAME }).click();
  assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), NAME);
  assert.match(page.url(), /bot-1\.html$/);
  const film = page.locator("details.film").first();
  await film.locator("summary").click();
  assert.match(await film.locator("pre").innerText(), /Result/);
  assert.match(await film.innerText(), /1 fault/);
  const log = page.getByRole("heading", { name: "Its log" }).locator("xpath=following-sibling::pre");
  assert.match(await log.innerText(), /<script>alert\('log'\)<\/script>/);
  await inspect(page, "report-race-bot-light");
  await page.getByRole("link", { name: QUOTES }).first().click();
  assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), QUOTES);
  assert.match(await page.getByRole("region", { name: "table of habits" }).innerText(), /each time/);
  assert.deepEqual(problems, []);
  await close();
});
