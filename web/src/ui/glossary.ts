// What the words and numbers of the pages mean. `Term` shows these texts beside the word.
export const glossary = {
  match: "Block and number: match 12.3 is number 3 of block 12.",
  blocks:
    "A block is one round of the schedule: every group plays in several seatings, so that no seat favours anybody. Results are compared block by block.",
  rating:
    "Elo points from all results together. 0 is the average of this tournament; an entry rated 100 above another beats it in about 64 of 100 matches.",
  "win-rate":
    "The share of matches won; a shared win counts in part. The line is the 95% interval: the true share is very likely within it.",
  "luck-adjusted":
    "The result after subtracting the luck of the dice, which the exact solution measures. It settles who is better with far fewer matches.",
  "mean-score": "The average score of all matches. The line is the 95% interval.",
  "median-score": "The score in the middle: half of the matches ended higher, half lower.",
  chance: "The chance of winning if both players play perfectly from here. A shared win counts one half.",
  points: "The points that a perfect player scores from here, on average.",
  odds: "How often this comes when the roll is made again and again, worked out exactly. All of them together are 100%, and a bar of full width would be 100%.",
  cost: "How much less an option is worth than the best one. The bars begin at 0.",
  luck: "What the dice gave: the value after a roll minus the value that was to be expected before it. On average it is 0.",
  mistakes: "What decisions cost: the value of the best option minus the value of the chosen one (regret).",
  margin: "How many points the winner was ahead of the next.",
  faults: "How often an entry answered too late, against the rules or not at all.",
  rate: "How many matches are played in that time, measured over the last few seconds while the tournament runs.",
  rank: "The ranks that the results allow: an entry with 1–3 may be first, second or third.",
  cpu: "Processor time for a decision, on average, in millionths of a second.",
  regret: "How much more the best decision would have been worth, per decision.",
  "cost-decision": "Money for one decision, on average.",
  money: "Money for all decisions, at the prices that the host gave.",
  tokens: "Pieces of text that the model read and wrote; they are what is paid for.",
  unusable: "Answers that no decision could be read from. The model was asked again.",
  lost: "Decisions without any usable answer; the rule for a bad action was applied.",
  bargain:
    "How much regret each further unit of money saves, against the next cheaper model that none beats in both. “Beaten”: another one costs no more and has no more regret.",
  "rule-value": "What the rule is worth, exactly: every turn was worked out, none was played.",
} as const;

export type TermName = keyof typeof glossary;
