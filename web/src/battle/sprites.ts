// Small pictures of pieces, painted once and drawn often.
import { CORPSE, ZOMBIE } from "./film";
import { letterOf, shapeOf, trace, type Palette } from "./look";

/** From so many pixels on a piece has a face or a letter. */
export const DETAILED = 13;
/** No piece is smaller than this, even if it hides a part of its neighbour: it must be seen from afar. */
export const SMALLEST = 8;

export class Sprites {
  /** How many pixels of the canvas each has. */
  size = 0;
  private made = new Map<number, HTMLCanvasElement>();
  private ratio = 1;

  constructor(private palette: Palette) {}

  recolour(palette: Palette) {
    this.palette = palette;
    this.made.clear();
  }

  /** A square has so many pixels of the screen from now on. */
  scale(scale: number, ratio: number) {
    const size = Math.ceil(Math.max(scale, SMALLEST) * ratio);
    if (size === this.size && ratio === this.ratio) return;
    [this.size, this.ratio] = [size, ratio];
    this.made.clear();
  }

  of(who: number): HTMLCanvasElement {
    let sprite = this.made.get(who);
    if (!sprite) {
      sprite = this.make(who);
      this.made.set(who, sprite);
    }
    return sprite;
  }

  private make(who: number): HTMLCanvasElement {
    const sprite = document.createElement("canvas");
    sprite.width = sprite.height = this.size;
    const ctx = sprite.getContext("2d");
    if (!ctx) return sprite;
    const detailed = this.size / this.ratio >= DETAILED;
    if (who === ZOMBIE) paintZombie(ctx, this.size, this.palette, detailed);
    else if (who === CORPSE) paintCorpse(ctx, this.size, this.palette);
    else paintSurvivor(ctx, this.size, who - 2, this.palette, detailed);
    return sprite;
  }
}

function paintZombie(ctx: CanvasRenderingContext2D, size: number, palette: Palette, detailed: boolean) {
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

function paintCorpse(ctx: CanvasRenderingContext2D, size: number, palette: Palette) {
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

function paintSurvivor(
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
