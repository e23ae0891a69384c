// Paints the torus: what of it is in the window, wrapped around at its edges, at any moment between two turns.
import { CORPSE, RANGE, VISION, ZOMBIE, seatOf, way, type Moment } from "./film";
import { letterOf, shapeOf, trace, type Palette } from "./look";

/** What is looked at: the square in the middle (with fractions), and how many pixels of the screen a square has. */
export interface Camera {
  x: number;
  y: number;
  scale: number;
}

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

const MAX_SCALE = 64;
/** Below so many pixels a piece is a plain square in a crowd, and from so many on it has a face or a letter. */
const PLAIN = 4;
const DETAILED = 13;
/** No piece is smaller than this, even if it hides a part of its neighbour: it must be seen from afar. */
const SMALLEST = 8;
const SMALLEST_PLAIN = 3;

export class FieldPainter {
  readonly camera: Camera;
  private width = 1;
  private height = 1;
  private ratio = 1;
  private sprites = new Map<number, HTMLCanvasElement>();
  private spriteSize = 0;
  /** Whose colour is set. */
  private inked = -1;
  private readonly ctx: CanvasRenderingContext2D;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly side: number,
    private palette: Palette,
  ) {
    const ctx = canvas.getContext("2d", { alpha: false });
    if (!ctx) throw new Error("this browser cannot draw on a canvas");
    this.ctx = ctx;
    // All of it, however large the window will be.
    this.camera = { x: side / 2, y: side / 2, scale: 0 };
  }

  recolour(palette: Palette) {
    this.palette = palette;
    this.sprites.clear();
  }

  /** The window has this size on the screen now. */
  resize(width: number, height: number, ratio: number) {
    const whole = this.camera.scale <= this.fit * 1.001;
    [this.width, this.height, this.ratio] = [Math.max(1, width), Math.max(1, height), ratio];
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.zoomTo(whole ? this.fit : this.camera.scale);
  }

  /** The scale at which the whole torus is seen, once. */
  get fit(): number {
    return Math.max(this.width, this.height) / this.side;
  }

  zoomTo(scale: number) {
    const most = Math.max(MAX_SCALE, this.fit);
    this.camera.scale = Math.max(this.fit, Math.min(most, scale));
  }

  /** Zooms so that the point under the pointer stays there. */
  zoomAt(factor: number, px: number, py: number) {
    const [x, y] = this.boardAt(px, py);
    this.zoomTo(this.camera.scale * factor);
    const { scale } = this.camera;
    this.lookAt(x - (px - this.width / 2) / scale, y - (py - this.height / 2) / scale);
  }

  pan(px: number, py: number) {
    this.lookAt(this.camera.x + px / this.camera.scale, this.camera.y + py / this.camera.scale);
  }

  lookAt(x: number, y: number) {
    this.camera.x = modulo(x, this.side);
    this.camera.y = modulo(y, this.side);
  }

  /** The point of the torus under a point of the window, not wrapped. */
  boardAt(px: number, py: number): [number, number] {
    const { x, y, scale } = this.camera;
    return [x + (px - this.width / 2) / scale, y + (py - this.height / 2) / scale];
  }

  /** The piece nearest to a point of the window, if it is near. The living come first. */
  pieceAt(moment: Moment, px: number, py: number): number | undefined {
    const [bx, by] = this.boardAt(px, py);
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
    ctx.fillRect(0, 0, this.width, this.height);
    this.drawGround();
    if (scene.followed !== undefined) this.drawWindows(scene, scene.followed);
    this.drawPieces(scene);
    this.drawShots(scene);
    if (scene.moment.risen !== undefined) this.drawRising(scene, scene.moment.risen);
    if (scene.followed !== undefined) this.drawRing(scene, scene.followed);
  }

  /** Left edge of the window on the torus. */
  private get left(): number {
    return this.camera.x - this.width / 2 / this.camera.scale;
  }

  private get top(): number {
    return this.camera.y - this.height / 2 / this.camera.scale;
  }

  /** Calls `visit` with every place of the window where a point of the torus is seen, or nearly. */
  private seen(x: number, y: number, margin: number, visit: (px: number, py: number) => void) {
    const { scale } = this.camera;
    const startX = modulo(x - this.left + margin, this.side) - margin;
    const startY = modulo(y - this.top + margin, this.side) - margin;
    for (let bx = startX; (bx - margin) * scale < this.width; bx += this.side) {
      for (let by = startY; (by - margin) * scale < this.height; by += this.side)
        visit(bx * scale, by * scale);
    }
  }

  /** Squares where there is room for them, and the seams of the torus. */
  private drawGround() {
    const { ctx, palette } = this;
    const { scale } = this.camera;
    ctx.lineWidth = 1;
    if (scale >= 9) {
      ctx.strokeStyle = palette.line;
      ctx.globalAlpha = Math.min(0.5, (scale - 8) / 24);
      ctx.beginPath();
      for (let x = Math.ceil(this.left); (x - this.left) * scale < this.width; x++) {
        const px = Math.round((x - this.left) * scale) + 0.5;
        ctx.moveTo(px, 0);
        ctx.lineTo(px, this.height);
      }
      for (let y = Math.ceil(this.top); (y - this.top) * scale < this.height; y++) {
        const py = Math.round((y - this.top) * scale) + 0.5;
        ctx.moveTo(0, py);
        ctx.lineTo(this.width, py);
      }
      ctx.stroke();
    }
    ctx.globalAlpha = 0.55;
    ctx.strokeStyle = palette.muted;
    ctx.setLineDash([6, 6]);
    ctx.beginPath();
    for (let x = modulo(-this.left, this.side); x * scale <= this.width; x += this.side) {
      ctx.moveTo(x * scale, 0);
      ctx.lineTo(x * scale, this.height);
    }
    for (let y = modulo(-this.top, this.side); y * scale <= this.height; y += this.side) {
      ctx.moveTo(0, y * scale);
      ctx.lineTo(this.width, y * scale);
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
      this.seen(x, y, half, (px, py) => {
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
    const { scale } = this.camera;
    const plain = scale < PLAIN && this.isCrowded(moment.count);
    this.prepareSprites(scale);
    const eye =
      scene.blinkered && scene.followed !== undefined ? this.place(scene, scene.followed) : undefined;
    const left = 1 - progress;
    const [startX, startY] = [this.left, this.top];
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
        if (bx * scale > this.width || by * scale > this.height) continue;
        let wanted = 1;
        if (highlighted !== undefined && who !== highlighted + 2) wanted = 0.25;
        if (eye && !sees(eye, x + 0.5, y + 0.5, side)) wanted = 0.12;
        if (wanted !== alpha) ctx.globalAlpha = alpha = wanted;
        for (let px = bx; px * scale < this.width; px += side) {
          for (let py = by; py * scale < this.height; py += side) {
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
    const seen = count * (this.fit / this.camera.scale) ** 2;
    return seen * SMALLEST ** 2 > (this.width * this.height) / 4;
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
    let sprite = this.sprites.get(who);
    if (!sprite) {
      sprite = this.makeSprite(who);
      this.sprites.set(who, sprite);
    }
    const { ctx, ratio } = this;
    if (scale >= DETAILED) {
      ctx.drawImage(sprite, px, py, scale, scale);
      return;
    }
    // Small ones stand on whole pixels, which is sharp and fast.
    const size = this.spriteSize / ratio;
    const beyond = (size - scale) / 2;
    const [x, y] = [Math.round((px - beyond) * ratio) / ratio, Math.round((py - beyond) * ratio) / ratio];
    ctx.drawImage(sprite, x, y, size, size);
  }

  private prepareSprites(scale: number) {
    const size = Math.ceil(Math.max(scale, SMALLEST) * this.ratio);
    if (size !== this.spriteSize) {
      this.spriteSize = size;
      this.sprites.clear();
    }
  }

  private makeSprite(who: number): HTMLCanvasElement {
    const sprite = document.createElement("canvas");
    sprite.width = sprite.height = this.spriteSize;
    const ctx = sprite.getContext("2d");
    if (!ctx) return sprite;
    const size = this.spriteSize;
    const detailed = size / this.ratio >= DETAILED;
    if (who === ZOMBIE) paintZombie(ctx, size, this.palette, detailed);
    else if (who === CORPSE) paintCorpse(ctx, size, this.palette);
    else paintSurvivor(ctx, size, who - 2, this.palette, detailed);
    return sprite;
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
      this.seen(x, y, RANGE + 1, (px, py) => {
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
    this.seen(x, y, 2, (px, py) => {
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
    this.seen(x, y, 1, (px, py) => {
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

function modulo(x: number, side: number): number {
  return x - Math.floor(x / side) * side;
}

export function paintZombie(
  ctx: CanvasRenderingContext2D,
  size: number,
  palette: Palette,
  detailed: boolean,
) {
  const unit = size / 16;
  ctx.fillStyle = palette.zombie;
  ctx.beginPath();
  // A head with a jaw.
  ctx.roundRect(2 * unit, 2 * unit, 12 * unit, 9 * unit, 4 * unit);
  ctx.roundRect(4 * unit, 9 * unit, 8 * unit, 5 * unit, 1.5 * unit);
  ctx.fill();
  if (!detailed) return;
  ctx.fillStyle = palette.zombieDark;
  ctx.beginPath();
  ctx.arc(5.6 * unit, 6.8 * unit, 1.7 * unit, 0, 2 * Math.PI);
  ctx.arc(10.4 * unit, 6.8 * unit, 1.7 * unit, 0, 2 * Math.PI);
  ctx.fill();
  ctx.fillRect(5.4 * unit, 11 * unit, 1.2 * unit, 2.2 * unit);
  ctx.fillRect(7.4 * unit, 11 * unit, 1.2 * unit, 2.2 * unit);
  ctx.fillRect(9.4 * unit, 11 * unit, 1.2 * unit, 2.2 * unit);
}

export function paintCorpse(ctx: CanvasRenderingContext2D, size: number, palette: Palette) {
  const unit = size / 16;
  ctx.strokeStyle = palette.corpse;
  ctx.lineWidth = 3 * unit;
  ctx.lineCap = "round";
  ctx.beginPath();
  ctx.moveTo(4 * unit, 4 * unit);
  ctx.lineTo(12 * unit, 12 * unit);
  ctx.moveTo(12 * unit, 4 * unit);
  ctx.lineTo(4 * unit, 12 * unit);
  ctx.stroke();
}

export function paintSurvivor(
  ctx: CanvasRenderingContext2D,
  size: number,
  seat: number,
  palette: Palette,
  detailed: boolean,
) {
  trace(ctx, seat, size / 2, size / 2, size * 0.43);
  ctx.fillStyle = palette.entries[seat]!;
  ctx.fill();
  if (!detailed) return;
  const letter = letterOf(seat);
  const low = shapeOf(seat).length === 3;
  ctx.fillStyle = palette.ink;
  ctx.font = `800 ${Math.round(size * (letter.length > 1 || low ? 0.4 : 0.5))}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(letter, size / 2, size * (low ? 0.62 : 0.53));
}
