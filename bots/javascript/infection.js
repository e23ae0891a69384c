#!/usr/bin/env node
// Infection: plays by the odds of the public report.
//
// The idea: the report says how many zombies there are, so the chance that a partner is one is known. A human
// pays for a precaution when that chance is high and antibodies are left, meets as few as possible, and takes
// the antidote at the end of a turn when it may well have been touched. A zombie meets all, and saves its
// viruses for the end of the game.
"use strict";

function human(view) {
  const { humans, zombies } = view.public;
  const risk = zombies / (humans + zombies - 1);
  const stock = view.told.stock;
  const commit = { type: risk > 0.3 && stock >= 1 ? "precaution" : "none" };
  const why = `${Math.round(100 * risk)} % of the others are zombies`;

  if (view.question.type === "answer") return [{ type: "answer", commit }, why];
  const goOn = !view.has_met || (risk < 0.15 && stock < 3);
  // The seat decides where to start, so that not everybody runs to seat 0.
  const partner = view.partners.find((seat) => seat > view.seat) ?? view.partners[0];
  if (goOn && partner !== undefined) return [{ type: "contact", with: partner, commit }, why];
  const antidote = risk > 0.15 && stock >= 2;
  return [{ type: "end", antidote }, antidote ? "just in case" : why];
}

function zombie(view) {
  const viruses = view.told.stock - view.applied;
  // A touch alone infects whoever takes no precaution. Viruses break through, so spread them over the turns
  // left.
  const turnsLeft = view.max_turns - view.public.turns;
  const count = Math.min(viruses, Math.ceil(view.told.stock / Math.max(1, turnsLeft)));
  const commit = count > 0 ? { type: "virus", count } : { type: "none" };

  if (view.question.type === "answer") return [{ type: "answer", commit }, "come closer"];
  if (view.partners.length === 0) return [{ type: "end" }, "nobody is left"];
  return [{ type: "contact", with: view.partners.at(-1), commit }, "hello there"];
}

function choose(view) {
  return view.told.identity === "human" ? human(view) : zombie(view);
}

// One message a line; what we do not know (start, end, news of later versions) is ignored.
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    console.log(JSON.stringify({ type: "ready", protocol: 1, deterministic: true }));
  } else if (message.type === "decide") {
    const [action, reason] = choose(message.view);
    console.log(JSON.stringify({ id: message.id, action, reason }));
  }
});
