// The parts that the folders of the games have. They are found by the names of their files, so no list has to be kept.

/** By the id of each game that a part is for. */
export function byGame<Part extends { games: string[] }>(files: Record<string, Part>): Map<string, Part> {
  return new Map(Object.values(files).flatMap((part) => part.games.map((game) => [game, part] as const)));
}
