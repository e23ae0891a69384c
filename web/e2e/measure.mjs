// Measures what depends on the machine: the first paint of each page on a slow phone, and the work for a frame of rolling dice and of a
// battle. Prints the figures and fails when one is over its limit. Not part of the tests: `npm run measure`.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { necrodome, openBrowser, scratch, startArena, visitor } from "./arena.mjs";
import { BUDGET, everyPage, load } from "./load.mjs";

/** A phone of the lower middle class in a slow 4G network, as Lighthouse has it: a fourth of this processor's speed, 1.6 Mbit/s, 150 ms. */
const slow = {
  cpu: 4,
  network: { latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 },
};
const PAINT = 1000;
/** Milliseconds for a picture at 60 in a second. */
const FRAME = 1000 / 60;
/** How long a film is watched, in milliseconds. */
const WATCHED = 6000;

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const share = (numbers, part) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * part)];
const over = [];
function check(what, value, limit, unit) {
  if (!(value <= limit))
    over.push(`${what}: ${value.toFixed(1)} ${unit}, expected at most ${limit.toFixed(1)}`);
}

async function measurePages(arena, browser) {
  console.log("page                                          KB   first paint (ms), median of 3, slow phone");
  const { pages, storageState, close } = await everyPage(arena, browser);
  for (const page of pages) {
    const loads = [];
    for (let i = 0; i < 3; i++) loads.push(await load(browser, arena.url + page, { storageState, slow }));
    const [bytes, painted] = [loads[0].bytes, median(loads.map((one) => one.painted))];
    console.log(
      `${page.padEnd(42)} ${(bytes / 1000).toFixed(0).padStart(5)} ${painted.toFixed(0).padStart(7)}`,
    );
    check(page, bytes / 1000, BUDGET / 1000, "KB");
    check(page, painted, PAINT, "ms until the first paint");
  }
  await close();
}

/** The time that the main thread of the page works for each picture, in milliseconds of processor time, and the time between pictures. */
async function frames(browser, page) {
  const categories = ["disabled-by-default-devtools.timeline", "blink.user_timing"];
  await browser.startTracing(page, { categories });
  const between = await page.evaluate(
    (watched) =>
      new Promise((resolve) => {
        const times = [];
        requestAnimationFrame(function frame(now) {
          performance.mark("picture");
          times.push(now);
          if (now - times[0] < watched) requestAnimationFrame(frame);
          else resolve(times.slice(1).map((time, i) => time - times[i]));
        });
      }),
    WATCHED,
  );
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const marks = traceEvents.filter((event) => event.name === "picture");
  const { pid, tid } = marks[0];
  const tasks = traceEvents.filter(
    (event) => event.name === "RunTask" && event.pid === pid && event.tid === tid,
  );
  // A task belongs to the picture whose mark it holds or follows.
  const starts = marks.map((event) => event.ts).sort((a, b) => a - b);
  const work = starts.map((from, i) => {
    const to = starts[i + 1] ?? Infinity;
    const own = tasks.filter(({ ts, dur }) => ts + dur > from && ts + dur <= to);
    return own.reduce((sum, { tdur, dur }) => sum + (tdur ?? dur), 0) / 1000;
  });
  return { work: work.slice(0, -1), between };
}

async function measureFilm(arena, browser, what, words, checked) {
  const file = path.join(scratch(), "film.replay");
  execFileSync(necrodome, ["match", ...words, "--seed", "7", "--quiet", "--replay", file], {
    stdio: "ignore",
  });
  const { page, close } = await visitor(browser, { reducedMotion: "no-preference" });
  await page.goto(`${arena.url}/replay`);
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  const { work, between } = await frames(browser, page);
  await close();
  const [usual, worst] = [median(work), share(work, 0.95)];
  console.log(
    `${what}: ${work.length} frames, work of the main thread ${usual.toFixed(1)} ms at the median, ` +
      `${worst.toFixed(1)} ms at 95%; ${(1000 / median(between)).toFixed(0)} frames a second on this machine`,
  );
  if (checked) check(what, usual, FRAME, "ms of work for a frame");
}

const browser = await openBrowser();
const arena = await startArena({ samples: true });
await measurePages(arena, browser);
await measureFilm(arena, browser, "rolling dice", ["zombie-dice", "greedy", "cautious"], true);
const battle = (copies) => [
  "last-bullet",
  "gunner",
  "runner",
  "huddle",
  "wander",
  "stand-still",
  "--set",
  `copies=${copies}`,
  "--set",
  "density=0.03",
];
await measureFilm(arena, browser, "Last Bullet, 1,000 pieces", battle(200), true);
await measureFilm(arena, browser, "Last Bullet, 5,000 pieces", battle(1000), false);
await browser.close();
await arena.stop();
for (const line of over) console.error(`over the limit: ${line}`);
process.exitCode = over.length > 0 ? 1 : 0;
