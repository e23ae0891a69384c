// Paints the torus: what of it is in the window, wrapped around at its edges, at any moment between two turns.
import { Camera, modulo } from "./camera";
import { CORPSE, RANGE, VISION, ZOMBIE, seatOf, way, type Moment } from "./film";
import type { Palette } from "./look";
import { DETAILED, SMALLEST, Sprites } from "./sprites";

export interface Scene {
  moment: Moment;
  /** From 0 (the turn before) to 1 (this turn). */
  progress: number;
  /** The piece that is followed. */
  followed: number | undefined;
  /** Whether all that the followed piece does not see is dimmed. */
  blinkered: boolean;
  /** The entry whose survivors stand out. */
  highlighted: number | undefined;
}

/** Below so many pixels a piece is a plain square in a crowd, which is no smaller than this. */
const PLAIN = 4;
const SMALLEST_PLAIN = 3;

export class FieldPainter {
  readonly camera: Camera;
  private ratio = 1;
  /** Whose colour is set. */
  private inked = -1;
  private readonly sprites: Sprites;
  private readonly ctx: CanvasRenderingContext2D;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly side: number,
    private palette: Palette,
  ) {
    const ctx = canvas.getContext("2d", { alpha: false });
    if (!ctx) throw new Error("this browser cannot draw on a canvas");
    this.ctx = ctx;
    this.camera = new Camera(side);
    this.sprites = new Sprites(palette);
  }

  recolour(palette: Palette) {
    this.palette = palette;
    this.sprites.recolour(palette);
  }

  /** The canvas has this size on the screen now. */
  resize(width: number, height: number, ratio: number) {
    this.camera.resize(width, height);
    this.ratio = ratio;
    this.canvas.width = Math.round(this.camera.width * ratio);
    this.canvas.height = Math.round(this.camera.height * ratio);
  }

  /** The piece nearest to a point of the window, if it is near. The living come first. */
  pieceAt(moment: Moment, px: number, py: number): number | undefined {
    const [bx, by] = this.camera.boardAt(px, py);
    const reach = Math.max(0.75, 12 / this.camera.scale);
    let [best, found] = [Infinity, undefined as number | undefined];
    for (let piece = 0; piece < moment.count; piece++) {
      const dx = way(modulo(bx, this.side), moment.x[piece]! + 0.5, this.side);
      const dy = way(modulo(by, this.side), moment.y[piece]! + 0.5, this.side);
      const who = moment.who[piece]!;
      const distance = Math.hypot(dx, dy);
      const rank = distance + (who === CORPSE ? 0.6 : who === ZOMBIE ? 0.25 : 0);
      if (distance <= reach && rank < best) [best, found] = [rank, piece];
    }
    return found;
  }

  /** Where the middle of a piece is now. */
  place(scene: Scene, piece: number): [number, number] {
    const { moment, progress } = scene;
    const left = 1 - progress;
    return [
      moment.x[piece]! - moment.dx[piece]! * left + 0.5,
      moment.y[piece]! - moment.dy[piece]! * left + 0.5,
    ];
  }

  draw(scene: Scene) {
    const { ctx, ratio } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.palette.surface;
    ctx.fillRect(0, 0, this.camera.width, this.camera.height);
    this.drawGround();
    if (scene.followed !== undefined) this.drawWindows(scene, scene.followed);
    this.drawPieces(scene);
    this.drawShots(scene);
    if (scene.moment.risen !== undefined) this.drawRising(scene, scene.moment.risen);
    if (scene.followed !== undefined) this.drawRing(scene, scene.followed);
  }

  /** Squares where there is room for them, and the seams of the torus. */
  private drawGround() {
    const { scale, width, height, left, top } = this.camera;
    const { ctx, palette } = this;
    ctx.lineWidth = 1;
    if (scale >= 9) {
      ctx.strokeStyle = palette.line;
      ctx.globalAlpha = Math.min(0.5, (scale - 8) / 24);
      ctx.beginPath();
      for (let x = Math.ceil(left); (x - left) * scale < width; x++) {
        const px = Math.round((x - left) * scale) + 0.5;
        ctx.moveTo(px, 0);
        ctx.lineTo(px, height);
      }
      for (let y = Math.ceil(top); (y - top) * scale < height; y++) {
        const py = Math.round((y - top) * scale) + 0.5;
        ctx.moveTo(0, py);
        ctx.lineTo(width, py);
      }
      ctx.stroke();
    }
    ctx.globalAlpha = 0.55;
    ctx.strokeStyle = palette.muted;
    ctx.setLineDash([6, 6]);
    ctx.beginPath();
    for (let x = modulo(-left, this.side); x * scale <= width; x += this.side) {
      ctx.moveTo(x * scale, 0);
      ctx.lineTo(x * scale, height);
    }
    for (let y = modulo(-top, this.side); y * scale <= height; y += this.side) {
      ctx.moveTo(0, y * scale);
      ctx.lineTo(width, y * scale);
    }
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  /** What the followed piece sees, and what it can hit. */
  private drawWindows(scene: Scene, piece: number) {
    const { ctx, palette } = this;
    const { scale } = this.camera;
    const lives = seatOf(scene.moment.who[piece]!) !== undefined;
    const [x, y] = this.place(scene, piece);
    const square = (reach: number, colour: string, fill: number, dash: number[]) => {
      const half = reach + 0.5;
      this.camera.seen(x, y, half, (px, py) => {
        const [cornerX, cornerY, size] = [px - half * scale, py - half * scale, 2 * half * scale];
        ctx.globalAlpha = fill;
        ctx.fillStyle = colour;
        ctx.fillRect(cornerX, cornerY, size, size);
        ctx.globalAlpha = 0.9;
        ctx.strokeStyle = colour;
        ctx.lineWidth = 2;
        ctx.setLineDash(dash);
        ctx.strokeRect(cornerX, cornerY, size, size);
      });
    };
    if (scene.moment.who[piece]! !== CORPSE) square(VISION, palette.info, 0.1, []);
    if (lives) square(RANGE, palette.shot, 0.06, [7, 5]);
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  private drawPieces(scene: Scene) {
    const { ctx } = this;
    const { moment, progress, highlighted } = scene;
    const { scale, width, height, left: startX, top: startY } = this.camera;
    const plain = scale < PLAIN && this.isCrowded(moment.count);
    this.sprites.scale(scale, this.ratio);
    const eye =
      scene.blinkered && scene.followed !== undefined ? this.place(scene, scene.followed) : undefined;
    const left = 1 - progress;
    const { side } = this;
    // Corpses lie below all others, and the living stand on top.
    for (let layer = 0; layer < 3; layer++) {
      let alpha = 1;
      ctx.globalAlpha = 1;
      this.inked = -1;
      for (let piece = 0; piece < moment.count; piece++) {
        const who = lookNow(moment, piece, progress);
        if ((who === CORPSE ? 0 : who === ZOMBIE ? 1 : 2) !== layer) continue;
        if (moment.isNew && piece === moment.risen && progress < 0.6) continue;
        const x = moment.x[piece]! - moment.dx[piece]! * left;
        const y = moment.y[piece]! - moment.dy[piece]! * left;
        let bx = x - startX + 1;
        let by = y - startY + 1;
        bx -= Math.floor(bx / side) * side + 1;
        by -= Math.floor(by / side) * side + 1;
        if (bx * scale > width || by * scale > height) continue;
        let wanted = 1;
        if (highlighted !== undefined && who !== highlighted + 2) wanted = 0.25;
        if (eye && !sees(eye, x + 0.5, y + 0.5, side)) wanted = 0.12;
        if (wanted !== alpha) ctx.globalAlpha = alpha = wanted;
        for (let px = bx; px * scale < width; px += side) {
          for (let py = by; py * scale < height; py += side) {
            if (plain && who - 2 !== highlighted) this.drawPlain(who, px * scale, py * scale, scale);
            else this.drawSprite(who, px * scale, py * scale, scale);
          }
        }
      }
    }
    ctx.globalAlpha = 1;
  }

  /** Whether pieces of a decent size would hide each other, seen from this far. */
  private isCrowded(count: number): boolean {
    const seen = count * (this.camera.fit / this.camera.scale) ** 2;
    return seen * SMALLEST ** 2 > (this.camera.width * this.camera.height) / 4;
  }

  /** On whole pixels of the screen and with a colour that is set once for many: thousands of them are drawn in every frame. */
  private drawPlain(who: number, px: number, py: number, scale: number) {
    const { ctx, palette, ratio } = this;
    if (who !== this.inked) {
      this.inked = who;
      ctx.fillStyle =
        who === ZOMBIE ? palette.zombie : who === CORPSE ? palette.corpse : palette.entries[who - 2]!;
    }
    // Corpses do not matter as much as whoever moves.
    const size = who === CORPSE ? Math.max(1.5, scale * 0.6) : Math.max(SMALLEST_PLAIN, scale);
    const whole = Math.round(size * ratio) / ratio;
    ctx.fillRect(Math.round(px * ratio) / ratio, Math.round(py * ratio) / ratio, whole, whole);
  }

  private drawSprite(who: number, px: number, py: number, scale: number) {
    const sprite = this.sprites.of(who);
    const { ctx, ratio } = this;
    if (scale >= DETAILED) {
      ctx.drawImage(sprite, px, py, scale, scale);
      return;
    }
    // Small ones stand on whole pixels, which is sharp and fast.
    const size = this.sprites.size / ratio;
    const beyond = (size - scale) / 2;
    const [x, y] = [Math.round((px - beyond) * ratio) / ratio, Math.round((py - beyond) * ratio) / ratio];
    ctx.drawImage(sprite, x, y, size, size);
  }

  private drawShots(scene: Scene) {
    const { ctx, palette } = this;
    const { moment, progress } = scene;
    const { scale } = this.camera;
    // Bright when it is fired, and still to be seen when the turn stands.
    const glow = Math.max(0.4, 1 - progress * 1.1);
    for (const shot of moment.shots) {
      const [x, y] = this.place({ ...scene, progress: 0 }, shot.from);
      let [dx, dy] = [0, 0];
      if (shot.to !== undefined) {
        const [tx, ty] = this.place({ ...scene, progress: 0 }, shot.to);
        [dx, dy] = [way(x, modulo(tx, this.side), this.side), way(y, modulo(ty, this.side), this.side)];
      }
      // A bullet that misses ends where its range ends.
      const far = Math.max(Math.abs(dx), Math.abs(dy));
      const reach = shot.hit || far <= RANGE ? 1 : RANGE / far;
      this.camera.seen(x, y, RANGE + 1, (px, py) => {
        ctx.globalAlpha = glow;
        ctx.strokeStyle = palette.shot;
        ctx.lineWidth = Math.max(1.5, scale / 10);
        ctx.setLineDash(shot.hit ? [] : [3, 4]);
        ctx.beginPath();
        ctx.moveTo(px, py);
        ctx.lineTo(px + dx * reach * scale, py + dy * reach * scale);
        ctx.stroke();
        if (shot.hit && (progress < 1 || scale >= DETAILED)) {
          ctx.fillStyle = palette.shot;
          ctx.beginPath();
          const radius = Math.max(2, scale * (0.2 + 0.35 * (1 - progress)));
          ctx.arc(px + dx * scale, py + dy * scale, radius * (progress < 1 ? 1 : 0.6), 0, 2 * Math.PI);
          ctx.fill();
        }
      });
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  /** A ring that grows around the zombie that has just risen. */
  private drawRising(scene: Scene, piece: number) {
    const { ctx, palette } = this;
    const grown = Math.max(0, (scene.progress - 0.5) * 2);
    if (grown === 0) return;
    const [x, y] = this.place({ ...scene, progress: 1 }, piece);
    this.camera.seen(x, y, 2, (px, py) => {
      ctx.strokeStyle = palette.zombie;
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(px, py, Math.max(6, this.camera.scale * (0.5 + 0.4 * grown)), 0, 2 * Math.PI);
      ctx.stroke();
    });
  }

  private drawRing(scene: Scene, piece: number) {
    const { ctx, palette } = this;
    const [x, y] = this.place(scene, piece);
    this.camera.seen(x, y, 1, (px, py) => {
      ctx.strokeStyle = palette.text;
      ctx.lineWidth = 2.5;
      ctx.beginPath();
      ctx.arc(px, py, Math.max(7, this.camera.scale * 0.62), 0, 2 * Math.PI);
      ctx.stroke();
    });
  }
}

/** What a piece looks like between two turns: whoever is shot falls early, whoever is bitten or risen upon changes late. */
function lookNow(moment: Moment, piece: number, progress: number): number {
  const [was, is] = [moment.was[piece]!, moment.who[piece]!];
  if (was === is) return is;
  return progress >= (is === CORPSE ? 0.3 : 0.75) ? is : was;
}

function sees(eye: [number, number], x: number, y: number, side: number): boolean {
  const dx = Math.abs(way(modulo(eye[0], side), modulo(x, side), side));
  const dy = Math.abs(way(modulo(eye[1], side), modulo(y, side), side));
  return Math.max(dx, dy) <= VISION + 0.5;
}
