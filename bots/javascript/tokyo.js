#!/usr/bin/env node
// Tokyo: makes a plan for each turn and keeps the dice that serve it.
//
// The idea: five plans in order of urgency. Finish somebody who is weak; heal when hurt; finish the race to
// 20; collect the number that is nearest to three alike; otherwise attack. Attacks that hit somebody are kept
// with most plans.
"use strict";

const NUMBERS = ["one", "two", "three"];

function plan(view) {
  const me = view.monsters[view.seat];
  const inside = view.in_tokyo === view.seat;
  const count = (face) => view.dice.filter((die) => die === face).length;
  const targets = view.monsters.filter((other, seat) =>
    seat !== view.seat && other.health > 0 && (inside || seat === view.in_tokyo));
  const weakest = Math.min(...targets.map((other) => other.health)); // Infinity without a target

  if (weakest <= count("attack") + view.phase.rerolls_left) return [["attack"], "finish the weakest"];
  if (!inside && me.health <= 4) return [["heal", "attack"], "I am hurt"];
  // Three alike are worth the number: the nearest to done first, then the higher one.
  const best = NUMBERS.reduce((a, b) => (count(b) >= count(a) ? b : a));
  if (me.points >= 16) return [[best], "the last points"];
  const faces = targets.length ? ["attack"] : [];
  if (!inside && me.health <= 7) faces.push("heal");
  if (count(best) >= 2) return [[best, ...faces], `collect ${best}s`];
  return [faces.length ? faces : [best], "attack"];
}

function choose(view) {
  const me = view.monsters[view.seat];
  if (view.phase.type === "yielding") {
    // Each rival outside can hit again before my next turn, so a crowd is more dangerous.
    const rivals = view.monsters.filter((other) => other.health > 0).length - 1;
    const enough = 3 + rivals;
    const type = me.health > enough ? "stay" : "yield";
    return [{ type }, `${me.health} health, ${rivals} rivals`];
  }
  const [faces, why] = plan(view);
  return [{ type: "keep", dice: view.dice.map((die) => faces.includes(die)) }, why];
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
