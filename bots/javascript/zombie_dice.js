#!/usr/bin/env node
// Zombie Dice (table, solo and race): a table of rules, as a person plays it.
//
// The idea: the more shotguns, the fewer brains are enough to stop. The dice that come next shift the limit:
// many red ones make it wiser to stop, many green ones to go on.
"use strict";

// With so many shotguns, this many brains are enough.
const ENOUGH = [10, 5, 2];

// How bad the dice of the next roll are on average: 1 for green, 2 for yellow, 3 for red.
function danger(turn) {
  const worth = { green: 1, yellow: 2, red: 3 };
  const feet = (turn.hand ?? []).filter((die) => die.face === "footsteps");
  const cup = Object.entries(turn.cup);
  const inCup = cup.reduce((sum, [, count]) => sum + count, 0);
  const cupMean = inCup ? cup.reduce((sum, [colour, count]) => sum + worth[colour] * count, 0) / inCup : 2;
  return (feet.reduce((sum, die) => sum + worth[die.colour], 0) + (3 - feet.length) * cupMean) / 3;
}

function choose(view) {
  const { turn } = view;
  const go = (reason) => [{ type: "go" }, reason];
  const stop = (reason) => [{ type: "stop" }, reason];
  if (turn.brains === 0) return go("nothing to lose");

  if (view.scores) {
    // At the table: somebody has 13, so this is my last turn. Stopping behind the leader is losing.
    const leader = Math.max(0, ...view.scores.filter((_, seat) => seat !== view.seat));
    const mine = view.scores[view.seat] + turn.brains;
    if (leader >= 13 && mine < leader) return go("the last round, and I am behind");
  } else if (view.score !== undefined) {
    if (view.score + turn.brains >= 13) return stop("that wins the race");
    if (view.opponent_score >= 12 && turn.shotguns < 2) return go("the other needs one more turn");
  }

  const bad = danger(turn);
  const enough = ENOUGH[turn.shotguns] + (bad < 1.5 ? 1 : bad > 2.2 ? -1 : 0);
  const why = `${turn.brains} brains, ${turn.shotguns} shotguns, limit ${enough}`;
  return turn.brains >= enough ? stop(why) : go(why);
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
