// The pictures of the documents, taken in a real arena: `scripts/pictures`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { necrodome, openBrowser, scratch, startArena, visitor } from "./arena.mjs";

const out = process.argv[2];
const replay = path.join(scratch(), "race.replay");
// The perfect player decides well, and is shot three times.
const line = ["match", "zombie-dice-race", "optimal", "greedy", "--seed", "7"];
execFileSync(necrodome, [...line, "--quiet", "--replay", replay], { stdio: ["ignore", "ignore", "inherit"] });

/** What is on the screen, as WebP: a fraction of the size of a PNG. The browser has the encoder. */
async function take(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const png = (await page.screenshot()).toString("base64");
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
    return btoa(
      Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""),
    );
  }, png);
  writeFileSync(path.join(out, name), Buffer.from(webp, "base64"));
}

const [arena, browser] = await Promise.all([startArena(), openBrowser()]);
try {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await visitor(browser, { colorScheme });
    await page.goto(`${arena.url}/replay#moment=turn`);
    await page.setInputFiles("input[type=file]", replay);
    await page.getByText("What would the perfect player do?").waitFor();
    await take(page, `film-${colorScheme}.webp`);
    await close();
  }
} finally {
  await browser.close();
  await arena.stop();
}
