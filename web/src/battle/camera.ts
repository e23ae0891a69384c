// A window on the torus, which can be moved and zoomed.

const MAX_SCALE = 64;

export class Camera {
  /** The square in the middle, with fractions. */
  x: number;
  y: number;
  /** How many pixels of the screen a square has. At first all squares are seen, however large the window will be. */
  scale = 0;
  width = 1;
  height = 1;

  constructor(readonly side: number) {
    this.x = this.y = side / 2;
  }

  /** The window has this size on the screen now. */
  resize(width: number, height: number) {
    const whole = this.scale <= this.fit * 1.001;
    [this.width, this.height] = [Math.max(1, width), Math.max(1, height)];
    this.zoomTo(whole ? this.fit : this.scale);
  }

  /** The scale at which the whole torus is seen, once. */
  get fit(): number {
    return Math.max(this.width, this.height) / this.side;
  }

  zoomTo(scale: number) {
    const most = Math.max(MAX_SCALE, this.fit);
    this.scale = Math.max(this.fit, Math.min(most, scale));
  }

  /** Zooms so that the point under the pointer stays there. */
  zoomAt(factor: number, px: number, py: number) {
    const [x, y] = this.boardAt(px, py);
    this.zoomTo(this.scale * factor);
    this.lookAt(x - (px - this.width / 2) / this.scale, y - (py - this.height / 2) / this.scale);
  }

  pan(px: number, py: number) {
    this.lookAt(this.x + px / this.scale, this.y + py / this.scale);
  }

  lookAt(x: number, y: number) {
    this.x = modulo(x, this.side);
    this.y = modulo(y, this.side);
  }

  /** The point of the torus under a point of the window, not wrapped. */
  boardAt(px: number, py: number): [number, number] {
    return [this.x + (px - this.width / 2) / this.scale, this.y + (py - this.height / 2) / this.scale];
  }

  /** Left edge of the window on the torus. */
  get left(): number {
    return this.x - this.width / 2 / this.scale;
  }

  get top(): number {
    return this.y - this.height / 2 / this.scale;
  }

  /** Calls `visit` with every place of the window where a point of the torus is seen, or nearly. */
  seen(x: number, y: number, margin: number, visit: (px: number, py: number) => void) {
    const { scale } = this;
    const startX = modulo(x - this.left + margin, this.side) - margin;
    const startY = modulo(y - this.top + margin, this.side) - margin;
    for (let bx = startX; (bx - margin) * scale < this.width; bx += this.side) {
      for (let by = startY; (by - margin) * scale < this.height; by += this.side)
        visit(bx * scale, by * scale);
    }
  }
}

export function modulo(x: number, side: number): number {
  return x - Math.floor(x / side) * side;
}
