// Numbers in words.

/** `1 zombie`, `1,200 zombies` */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
