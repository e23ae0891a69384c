// A party with twelve phones: one of them reloads, the arena is killed in the middle of a turn, and the game is played to its end.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { inspect, necrodome, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

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
  for (const [label, value] of Object.entries(options)) await page.getByLabel(label).fill(String(value));
  await page.getByRole("button", { name: "Open the room" }).click();
  await page.getByRole("heading", { name: /^Room/ }).waitFor();
  return /party\/(\w+)\/host/.exec(page.url())[1];
}

async function join(id, name) {
  const phone = await visitor(browser, { width: 360, height: 740, expected });
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

/** Commits nothing, or if it may spend something, that. */
async function commit(phone, spend) {
  const nothing = phone.page.getByRole("button", { name: "Nothing" });
  await nothing.waitFor();
  const spending = phone.page.getByRole("button", { name: /^(A precaution|\d+ virus)/ });
  await (spend && (await spending.isVisible()) ? spending : nothing).click();
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
  const wall = await visitor(browser, { expected });
  await wall.page.goto(`${arena.url}/party/${id}/wall`);
  const phones = [];
  for (const name of names) phones.push(await join(id, name));
  await wall.page.getByRole("heading", { name: "12 players joined" }).waitFor();
  await inspect(wall.page, "party-wall-lobby");
  await inspect(host.page, "party-host-lobby");
  await inspect(phones[0].page, "party-phone-lobby");
  await host.page.getByRole("button", { name: "Start the game" }).click();
  await wall.page.getByText("The game begins").waitFor();
  await inspect(wall.page, "party-wall-turn");

  // In the first turn one phone reloads while it is in a contact.
  const [anna, ben, carla] = phones;
  await anna.page.getByRole("button", { name: "Hide" }).waitFor();
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
  await carla.page.getByText("You have committed. Waiting for the other.").waitFor();
  await arena.kill();
  await anna.page.getByText("The connection is lost").waitFor();
  arena = await startArena({ store: arena.store, port: arena.port });
  await commit(david, false);
  await carla.page.getByText("You have met David.").waitFor();
  await david.page.getByText("You have met Carla.").waitFor();
  await anna.page.getByText("The connection is lost").waitFor({ state: "hidden" });
  await inspect(host.page, "party-host-turn");
  for (let i = 4; i < 12; i += 2) await meet(phones[i], phones[i + 1]);
  for (const phone of phones) await endTurn(phone);
  await wall.page.getByText("Turn 1 is over").waitFor();

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
  for (let i = 0; i < 6; i += 1) await meet(phones[i], phones[i + 6]);
  // A zombie has no antibodies, and so no such button.
  let human = ben;
  for (const phone of phones)
    if (await phone.page.getByText("Human", { exact: true }).isVisible()) human = phone;
  await human.page.getByRole("button", { name: "Antidote" }).click();
  await human.page.getByRole("dialog").getByRole("button").first().click();
  await human.page.getByRole("dialog").waitFor({ state: "detached" });
  await endTurn(anna);
  await host.page.getByRole("button", { name: "End the turn for everybody" }).click();
  await host.page.getByRole("button", { name: "End the turn", exact: true }).click();
  await wall.page.locator(".ending").waitFor();
  await anna.page.getByText(/^You have (won|lost)/).waitFor();
  await inspect(wall.page, "party-wall-end");
  await inspect(anna.page, "party-phone-end");
  await inspect(host.page, "party-host-end");

  // The judge's own program accepts what is exported, and tells the same end.
  const script = path.join(scratch(), "party.txt");
  const response = await host.context.request.get(`${arena.url}/api/party/${id}/script`);
  writeFileSync(script, await response.text());
  const judged = execFileSync(necrodome, ["judge", "run", script, "--public"], { encoding: "utf8" });
  const ending = (await wall.page.locator(".ending").innerText()).toLowerCase();
  assert.ok(judged.toLowerCase().includes(ending), `${judged}\n${ending}`);
  const problems = [host, wall, ...phones].flatMap((one) => one.problems);
  assert.deepEqual(problems, []);
});

test("the host's desk works with the keyboard alone", async () => {
  const { page, problems } = await visitor(browser, { host: arena.host });
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
  await page.getByRole("heading", { name: "Turn 1 of 8" }).waitFor();
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
