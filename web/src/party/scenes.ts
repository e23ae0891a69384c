// The game in four pictures: what is under each.
export interface Words {
  title: string;
  text: string;
}

export const scenes: Words[] = [
  {
    title: "Meet somebody in every turn",
    text: "Two humans who meet gain an antibody each. Nobody can be met twice in a turn.",
  },
  {
    title: "A touch infects, and nobody notices",
    text: "Players who meet a zombie or an infected human without a precaution become infected. They still count as humans, and learn nothing of it.",
  },
  {
    title: "Choose in secret",
    text: "A precaution costs an antibody and protects you. Zombies spend viruses: each destroys an antibody of the other.",
  },
  {
    title: "Take the antidote in time",
    text: "It costs an antibody and heals. When a turn ends, the infected lose an antibody, and whoever has none left becomes a zombie.",
  },
];

export const ending =
  "The humans win when the last turn is over, those with the most antibodies first. A single human who is left wins alone. The zombies win when no human is left.";
