/** The games that are drawn with these dice. */
export const games = ["zombie-dice", "zombie-dice-solo", "zombie-dice-race"];
