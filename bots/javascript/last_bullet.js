#!/usr/bin/env node
// Last Bullet: walks downhill in a landscape of fear.
//
// The idea: every zombie spreads danger that fades with the distance, every other player a little (it may be
// bitten and become one). A copy steps to the free square with the least danger. Only a zombie that would
// bite next turn is worth a bullet. Copies tell each other which squares and targets they have chosen, so
// that they neither collide nor shoot one zombie twice.
"use strict";

const STEPS = {
  stay: [0, 0], north: [0, -1], northeast: [1, -1], east: [1, 0], southeast: [1, 1],
  south: [0, 1], southwest: [-1, 1], west: [-1, 0], northwest: [-1, -1],
};
const ZOMBIE = 0; // places in `names`
const CORPSE = 1;

const distance = (x, y) => Math.max(Math.abs(x), Math.abs(y));

function danger(seen, x, y) {
  let sum = 0;
  for (const [dx, dy, who] of seen) {
    const away = distance(dx - x, dy - y);
    if (who === ZOMBIE) sum += away <= 2 ? 1000 / (away + 1) : 100 / away ** 2;
    else if (who !== CORPSE) sum += 1 / (away + 1) ** 2;
  }
  return sum;
}

function choose({ side, copies }) {
  const claimed = new Set(); // squares
  const doomed = new Set(); // identity numbers
  const square = (copy, x, y) => `${(copy.x + x + side) % side},${(copy.y + y + side) % side}`;

  const orders = copies.map((copy) => {
    const threat = copy.seen.find(([dx, dy, who, number]) =>
      who === ZOMBIE && distance(dx, dy) <= 2 && !doomed.has(number));
    if (threat && copy.bullets > 0) {
      doomed.add(threat[3]);
      claimed.add(square(copy, 0, 0));
      return { type: "shoot", copy: copy.number, target: threat[3] };
    }
    const fears = copy.seen.filter((seen) => !doomed.has(seen[3]));
    const taken = new Set(copy.seen.map(([dx, dy]) => `${dx},${dy}`));
    let best = "stay";
    let least = Infinity;
    for (const [direction, [x, y]] of Object.entries(STEPS)) {
      if (taken.has(`${x},${y}`) || claimed.has(square(copy, x, y))) continue;
      const fear = danger(fears, x, y);
      if (fear < least) [best, least] = [direction, fear];
    }
    claimed.add(square(copy, ...STEPS[best]));
    return { type: "move", copy: copy.number, direction: best };
  });
  return [{ orders }];
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
