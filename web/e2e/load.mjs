// What it takes to open each page for the first time: an arena with something on every page, and a browser that has nothing yet.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";

/** The most that a page may send, compressed, until it is there. */
export const BUDGET = 200_000;

/** The addresses of all pages of an arena with samples, each with somebody who may open it. */
export async function everyPage(arena, browser) {
  const host = await browser.newContext();
  await host.request.get(arena.host);
  const ask = async (rest, data) => {
    const options = { data, headers: { origin: arena.url } };
    const answer = await (data
      ? host.request.post(`${arena.url}/api${rest}`, options)
      : host.request.get(`${arena.url}/api${rest}`));
    assert.ok(answer.ok(), await answer.text());
    return answer.status() === 204 ? undefined : answer.json();
  };
  /** Asks until it is so. */
  const until = async (rest, is) => {
    for (;;) {
      const answer = await ask(rest);
      if (is(answer)) return answer;
    }
  };
  const finished = ({ tournaments }) => tournaments.every((line) => line.state === "finished");
  const { tournaments: samples } = await until("/tournaments", finished);
  const match = `/tournaments/${samples[0].id}/matches/0/0`;
  const table = await ask("/tables", { game: "zombie-dice", name: "Ada", bots: ["cautious", "greedy"] });
  const solo = await ask("/tables", { game: "zombie-dice-solo", name: "Ada" });
  for (const type of ["go", "stop"]) {
    const is = ({ question, phase }) => question !== null || phase === "over";
    const { question, phase } = await until(`/tables/${solo.id}`, is);
    if (phase !== "over") await ask(`/tables/${solo.id}/act`, { question, action: { type } });
  }
  await until(`/tables/${solo.id}`, ({ phase }) => phase === "over");
  const { id: room } = await ask("/party", {});
  await ask(`/party/${room}/host`, { type: "add_bots", bot: "careful", count: 12 });
  await ask(`/party/${room}/host`, { type: "start" });
  const found = [
    "/",
    "/bots",
    "/learn",
    "/play",
    "/play?game=tokyo",
    `/tables/${table.id}`,
    "/replay",
    "/tournaments",
    "/tournaments/new",
    `/tournaments/${samples[0].id}`,
    `${match}`,
    `/tables/${solo.id}/replay`,
    `/embed${match}`,
    `/embed/tables/${solo.id}/replay`,
    "/party",
    `/party/${room}`,
    `/party/${room}/wall`,
    `/party/${room}/host`,
  ];
  // None is forgotten.
  const list = readFileSync(path.join(import.meta.dirname, "../src/pages/index.ts"), "utf8");
  const patterns = [...list.matchAll(/path: \/(.+)\/,/g)].map(([, pattern]) => new RegExp(pattern));
  assert.ok(patterns.length > 10);
  for (const pattern of patterns) {
    const isOne = (page) => pattern.test(new URL(page, arena.url).pathname);
    assert.ok(found.some(isOne), `no page of ${pattern} is opened`);
  }
  return { pages: found, storageState: await host.storageState(), close: () => host.close() };
}

/** Opens a page in a browser that has nothing yet: the bytes that came, compressed, and when something was painted first. */
export async function load(browser, url, { storageState, slow } = {}) {
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    reducedMotion: "reduce",
    storageState,
  });
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("Network.enable");
    if (slow) {
      await cdp.send("Emulation.setCPUThrottlingRate", { rate: slow.cpu });
      await cdp.send("Network.emulateNetworkConditions", { offline: false, ...slow.network });
    }
    const sizes = new Map();
    const going = new Set();
    let changed = Date.now();
    cdp.on("Network.requestWillBeSent", ({ requestId, type }) => {
      // What is followed live never ends.
      if (type !== "EventSource") going.add(requestId);
      changed = Date.now();
    });
    cdp.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
      sizes.set(requestId, (sizes.get(requestId) ?? 0) + encodedDataLength);
      changed = Date.now();
    });
    const ends = ({ requestId, encodedDataLength }) => {
      if (encodedDataLength !== undefined) sizes.set(requestId, encodedDataLength);
      going.delete(requestId);
      changed = Date.now();
    };
    cdp.on("Network.loadingFinished", ends);
    cdp.on("Network.loadingFailed", ends);
    await page.goto(url);
    await page.locator("h1, h2").first().waitFor();
    // A page is there when nothing more comes. A slow machine may need longer, but then more has been sent, not less.
    while (going.size > 0 || Date.now() - changed < 400) await new Promise((done) => setTimeout(done, 50));
    const painted = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    );
    return { bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0), painted };
  } finally {
    await context.close();
  }
}
