// The rules of each game, as much as is needed to begin.
export const rules: Record<string, string[]> = {
  "zombie-dice": [
    "Roll three dice. Brains are points, feet are rolled again, three shotguns lose the turn.",
    "Stop in time to bank the brains of the turn.",
    "When somebody has 13, the round is finished; the most brains win.",
  ],
  "zombie-dice-solo": [
    "One turn: roll three dice as often as you dare.",
    "Brains are points, feet are rolled again, three shotguns lose everything.",
  ],
  "zombie-dice-race": [
    "Roll three dice. Brains are points, feet are rolled again, three shotguns lose the turn.",
    "The first to have banked 13 brains wins on the spot.",
  ],
  tokyo: [
    "Roll six dice; keep some and roll the others again, twice.",
    "Three equal numbers are worth the number, every further one a point more. Hearts heal outside Tokyo. Claws hit: from outside whoever is in Tokyo, from inside everybody else.",
    "Entering Tokyo gives a point, beginning a turn there two. Whoever is hit in Tokyo may leave.",
    "20 points or the last monster alive wins.",
  ],
  infection: [
    "Every turn you meet others, and each side secretly commits something. Two healthy humans who commit nothing gain an antibody each.",
    "A zombie infects a human that takes no precaution. The infected are told that they are human; without antibodies they become zombies at the end of the turn.",
    "A precaution and the antidote cost an antibody. Zombies win when no human is left; humans win when time is up.",
  ],
  "last-bullet": [
    "Outlive everybody else. The field wraps around; you see 8 squares far, a gun reaches 5.",
    "Each turn a zombie rises somewhere. Whoever is next to a zombie is bitten. Zombies walk toward the nearest of the living that they see.",
    "You steer one survivor; your others stay where they are, and are your spare lives. Next to a corpse its bullets are yours.",
  ],
};
