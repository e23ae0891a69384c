#!/usr/bin/env node
// {{name}}, a bot for {{game}}.
//
// {{hint}}
//
// The arena writes one JSON object a line to standard input and reads one a line from standard output.
// Print notes of your own to standard error: console.error("thinking")
// Run it alone to try it by hand, or let the arena check it: necrodome check-bot {{game}} bot.js
"use strict";

{{only last-bullet}}
const DIRECTIONS = [
  "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "stay",
];

{{end}}
// Returns an action. This is the place for your own ideas: `view` is all that you know.
function choose(view, legal) {
{{only last-bullet}}
  // There are too many legal actions to list: give an order to each copy.
  return { orders: view.copies.map(order) };
}

// What one copy does. Here it walks in a random direction.
function order(copy) {
  return { type: "move", copy: copy.number, direction: pick(DIRECTIONS) };
}
{{end}}
{{only infection}}
  if (legal?.length) return pick(legal); // every legal action, where they are few
  if (view.question.type === "answer") return { type: "answer" };
  return { type: "contact", with: pick(view.partners) };
}
{{end}}
{{not last-bullet infection}}
  return pick(legal); // every legal action
}
{{end}}

// Random numbers that follow from the seed of the match (Math.random cannot be seeded).
let state = 1;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function pick(list) {
  return list[Math.floor(random() * list.length)];
}

function say(message) {
  console.log(JSON.stringify(message));
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  switch (message.type) {
    case "hello":
      say({ type: "ready", protocol: 1 });
      break;
    case "start":
      state = message.seed | 0; // the same match, the same choices
      break;
    case "decide":
      // You can add a `reason`: a text that is shown beside the action.
      say({ id: message.id, action: choose(message.view, message.legal) });
      break;
    // "end", and whatever later versions may add, needs no answer.
  }
});
