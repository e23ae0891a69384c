// Pictures and short videos of a board, made in the browser: the board is drawn into an SVG with the style of the page, and that onto
// a canvas. A board that is a canvas already is copied.

/** Pixels of a picture for each pixel of the page. */
const SHARP = 2;
/** Pictures a second of a video. */
const RATE = 30;

/** All rules of the page. They are our own, so they can be read. */
async function style(): Promise<string> {
  const rules = [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].map((rule) => (rule instanceof CSSFontFaceRule ? font(rule, sheet) : rule.cssText)),
  );
  return (await Promise.all(rules)).join("\n");
}

const fonts = new Map<string, Promise<string>>();

/** The rule of a font with its file inside, since a picture loads nothing; or nothing, if the page does without this font. */
async function font(rule: CSSFontFaceRule, sheet: CSSStyleSheet): Promise<string> {
  const address = /url\("?([^")]+)"?\)/.exec(rule.cssText)?.[1];
  const range = rule.style.getPropertyValue("unicode-range");
  const isUsed = [...document.fonts].some((face) => face.status === "loaded" && face.unicodeRange === range);
  if (!address || !isUsed) return "";
  let data = fonts.get(address);
  if (!data) fonts.set(address, (data = inside(new URL(address, sheet.href ?? location.href))));
  return rule.cssText.replace(address, await data);
}

/** A file as an address that holds it. */
async function inside(file: URL): Promise<string> {
  const bytes = await (await fetch(file)).blob();
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(new Error("this browser cannot read the font"));
    reader.readAsDataURL(bytes);
  });
}

function loaded(source: string): Promise<HTMLImageElement> {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => failed(new Error("this browser cannot draw the board"));
    image.src = source;
  });
}

/** A canvas that is as large as the board. */
function canvasOf(board: HTMLElement): HTMLCanvasElement {
  const { width, height } = board.getBoundingClientRect();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * SHARP), Math.round(height * SHARP)];
  return canvas;
}

/** Draws the board as it is now. */
async function draw(board: HTMLElement, canvas: HTMLCanvasElement) {
  const { width, height } = board.getBoundingClientRect();
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser has no canvas");
  pen.setTransform(SHARP, 0, 0, SHARP, 0, 0);
  pen.fillStyle = getComputedStyle(document.body.parentElement ?? document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const field = board.querySelector("canvas");
  if (field) {
    pen.drawImage(field, 0, 0, width, height);
    return;
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  // Rules for windows of some width are to hold as they do on the page.
  svg.setAttribute("width", String(window.innerWidth));
  svg.setAttribute("height", String(Math.max(window.innerHeight, Math.ceil(height))));
  svg.dataset.theme = document.documentElement.dataset.theme;
  const rules = document.createElementNS("http://www.w3.org/2000/svg", "style");
  rules.textContent = `${await style()}\n* { animation: none !important; transition: none !important; }`;
  const content = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
  content.setAttribute("width", "100%");
  content.setAttribute("height", "100%");
  const room = document.createElement("div");
  const type = getComputedStyle(board);
  room.style.cssText = `width:${width}px;color:${type.color};font:${type.fontSize}/${type.lineHeight} ${type.fontFamily}`;
  room.append(board.cloneNode(true));
  content.append(room);
  svg.append(rules, content);
  const text = new XMLSerializer().serializeToString(svg);
  pen.drawImage(await loaded(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`), 0, 0);
}

/** The board as a PNG. */
export async function picture(board: HTMLElement): Promise<Blob> {
  const canvas = canvasOf(board);
  await draw(board, canvas);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("this browser cannot save the picture")))),
  );
}

/** What this browser can record, if anything. */
export const recordable = () =>
  typeof MediaRecorder === "undefined"
    ? undefined
    : ["video/webm;codecs=vp9", "video/webm", "video/mp4"].find((type) =>
        MediaRecorder.isTypeSupported(type),
      );

/** A video of the steps from one to another. `show` goes to a step and resolves when the page shows it. */
export async function video(
  board: HTMLElement,
  { from, to, seconds }: { from: number; to: number; seconds: number },
  show: (step: number) => Promise<void>,
): Promise<Blob> {
  const type = recordable();
  if (!type) throw new Error("this browser cannot record videos");
  await show(from);
  const canvas = canvasOf(board);
  const recorder = new MediaRecorder(canvas.captureStream(RATE), { mimeType: type });
  const pieces: Blob[] = [];
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  const over = new Promise<void>((done) => (recorder.onstop = () => done()));
  recorder.start();
  try {
    for (let step = from; step <= to; step++) {
      await show(step);
      const until = performance.now() + seconds * 1000;
      // A still picture is drawn again and again: a stream without news has no length.
      do {
        await draw(board, canvas);
        await new Promise((done) => setTimeout(done, 1000 / RATE));
      } while (performance.now() < until);
    }
  } finally {
    recorder.stop();
  }
  await over;
  return new Blob(pieces, { type });
}

/** Hands a file to the reader. */
export function save(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
