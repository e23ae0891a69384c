// Requests to the server. Its types are generated; see `npm run types`.
import type { Refused } from "./schema";

/** What the server said when it refused. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hints: string[] = [],
  ) {
    super(message);
  }
}

/** The answer, or what the server said when it refused. */
export async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) {
    let refused: Partial<Refused> = {};
    try {
      refused = JSON.parse(text) as Refused;
    } catch {
      // Not from this server: its own words will do.
    }
    throw new RefusedError(
      response.status,
      refused.error ?? `the server answered ${response.status}`,
      refused.hints,
    );
  }
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export async function get<T>(path: string): Promise<T> {
  return read<T>(await fetch(path));
}

export async function post<T = void>(path: string, body: unknown = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return read<T>(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Sends a file as it is. */
export async function upload<T>(path: string, file: Blob): Promise<T> {
  const headers = { "content-type": "application/octet-stream" };
  return read<T>(await fetch(path, { method: "POST", headers, body: file }));
}

/** What is wrong, in words for the page. */
export function wordsOf(error: unknown): string {
  if (error instanceof RefusedError)
    return [error.message, ...error.hints.map((hint) => `(${hint})`)].join(" ");
  return error instanceof TypeError ? "the server cannot be reached" : String(error);
}

/** What could not be asked is asked again so much later, in milliseconds. */
export const AGAIN = 1500;

/** Whether the server may answer if it is asked again. */
export const passes = (error: unknown) =>
  !(error instanceof RefusedError) || error.status === 429 || error.status >= 500;

/** Asks until there is an answer, or a refusal that stays. Gives a function that ends it. */
export function persist<T>(
  path: string,
  take: (value: T) => void,
  fail: (words: string, again: boolean) => void,
): () => void {
  let again: ReturnType<typeof setTimeout>;
  let left = false;
  const ask = async () => {
    try {
      const value = await get<T>(path);
      if (left) return;
      take(value);
      fail("", false);
    } catch (error) {
      if (left) return;
      fail(wordsOf(error), passes(error));
      if (passes(error)) again = setTimeout(() => void ask(), AGAIN);
    }
  };
  void ask();
  return () => {
    left = true;
    clearTimeout(again);
  };
}

/** Asks for something now and every few seconds while the page is looked at. Gives a function that ends it. */
export function poll<T>(path: string, take: (value: T) => void, fail: (words: string) => void): () => void {
  const load = async () => {
    try {
      take(await get<T>(path));
      fail("");
    } catch (error) {
      fail(wordsOf(error));
    }
  };
  void load();
  const again = setInterval(() => {
    if (!document.hidden) void load();
  }, 5000);
  return () => clearInterval(again);
}
