/** Draws the lines of a chart onto a canvas with finished axes. All lengths are CSS pixels times the device's ratio. */
import type { Line, MarkKind } from "./line.ts";
import { type Range, slice } from "./scale.ts";

export type Tick = { readonly x: number; readonly label: string; readonly colour: string };

export type DrawnLine = {
  readonly line: Line;
  /** The values after smoothing; without smoothing, the line's values. */
  readonly y: readonly number[];
  readonly colour: string;
  readonly dash: readonly number[];
  readonly width: number;
  readonly alpha: number;
  readonly band: boolean;
  readonly dots: boolean;
};

export type Area = {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
};

export type Frame = {
  readonly area: Area;
  readonly ratio: number;
  readonly x: Range;
  readonly y: Range;
  readonly log: boolean;
};

/** Maps a value to a pixel: a + b · value, or a + b · log(value). */
type Axis = { readonly a: number; readonly b: number; readonly log: boolean };

function axisOf(from: number, length: number, [least, greatest]: Range, log: boolean): Axis {
  const low = log ? Math.log(least) : least;
  const b = length / ((log ? Math.log(greatest) : greatest) - low);
  return { a: from - b * low, b, log };
}

/** Draws lines; the last one is on top. */
export function drawLines(
  ctx: CanvasRenderingContext2D,
  frame: Frame,
  lines: readonly DrawnLine[],
): void {
  const { area, x, y, log } = frame;
  const across = axisOf(area.left, area.width, x, false);
  const up = axisOf(area.top + area.height, -area.height, y, log);
  ctx.save();
  ctx.beginPath();
  // The clip area is wider than the plot, so that dots at the ends of x are whole.
  ctx.rect(area.left - 4 * frame.ratio, area.top, area.width + 8 * frame.ratio, area.height);
  ctx.clip();
  ctx.lineJoin = "round";
  for (const drawn of lines) {
    const [from, to] = slice(drawn.line.x, x);
    if (to <= from) continue;
    ctx.globalAlpha = drawn.alpha;
    if (drawn.band) fillBand(ctx, drawn, from, to, across, up);
    strokeLine(ctx, frame.ratio, drawn, from, to, across, up);
    if (drawn.dots) fillDots(ctx, frame, drawn, from, to, across, up);
  }
  ctx.restore();
}

function strokeLine(
  ctx: CanvasRenderingContext2D,
  ratio: number,
  drawn: DrawnLine,
  from: number,
  to: number,
  across: Axis,
  up: Axis,
): void {
  const { x } = drawn.line;
  const { y } = drawn;
  ctx.beginPath();
  let open = false;
  for (let index = from; index < to; index += 1) {
    const value = y[index] as number;
    const at = up.log ? Math.log(value) : value;
    // A value without a position is a gap: NaN, or 0 on a logarithmic axis.
    if (!Number.isFinite(at)) {
      open = false;
      continue;
    }
    const px = across.a + across.b * (x[index] as number);
    const py = up.a + up.b * at;
    if (open) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
    open = true;
  }
  ctx.strokeStyle = drawn.colour;
  ctx.lineWidth = drawn.width * ratio;
  ctx.setLineDash(drawn.dash.map((length) => length * ratio));
  ctx.stroke();
}

/** Fills the area from the minimum to the maximum of each bucket, between gaps. */
function fillBand(
  ctx: CanvasRenderingContext2D,
  { line, colour, alpha }: DrawnLine,
  from: number,
  to: number,
  across: Axis,
  up: Axis,
): void {
  const { x, low, high } = line;
  const yOf = (value: number): number => {
    if (!up.log) return up.a + up.b * value;
    // A value without a position on a logarithmic axis is drawn below the axis's lower end.
    return value > 0 ? up.a + up.b * Math.log(value) : 1e6;
  };
  ctx.beginPath();
  let start = from;
  for (let index = from; index <= to; index += 1) {
    if (index < to && Number.isFinite(high[index] as number)) continue;
    for (let k = start; k < index; k += 1) {
      const px = across.a + across.b * (x[k] as number);
      if (k === start) ctx.moveTo(px, yOf(high[k] as number));
      else ctx.lineTo(px, yOf(high[k] as number));
    }
    for (let k = index - 1; k >= start; k -= 1) {
      ctx.lineTo(across.a + across.b * (x[k] as number), yOf(low[k] as number));
    }
    start = index + 1;
  }
  ctx.globalAlpha = alpha * 0.18;
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.globalAlpha = alpha;
}

/** Draws dots unless they would touch: a row of touching dots shows no more than the line. */
function fillDots(
  ctx: CanvasRenderingContext2D,
  { ratio, area }: Frame,
  { line, y, colour, width }: DrawnLine,
  from: number,
  to: number,
  across: Axis,
  up: Axis,
): void {
  if ((to - from) * 6 * ratio > area.width && to - from > 1) return;
  const radius = (width + 1) * ratio;
  ctx.beginPath();
  for (let index = from; index < to; index += 1) {
    const value = y[index] as number;
    const py = up.a + up.b * (up.log ? Math.log(value) : value);
    if (!Number.isFinite(py)) continue;
    const px = across.a + across.b * (line.x[index] as number);
    ctx.moveTo(px + radius, py);
    ctx.arc(px, py, radius, 0, 2 * Math.PI);
  }
  ctx.fillStyle = colour;
  ctx.fill();
}

/** Draws marks at the bottom: a cross for NaN, and a triangle for an infinity, at the side where the value would be. */
export function drawMarks(
  ctx: CanvasRenderingContext2D,
  frame: Frame,
  lines: readonly DrawnLine[],
): void {
  const { area, ratio, x } = frame;
  const across = axisOf(area.left, area.width, x, false);
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([]);
  for (const { line, colour, alpha } of lines) {
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.globalAlpha = alpha;
    let last = Number.NEGATIVE_INFINITY;
    for (const mark of line.marks) {
      if (mark.x < x[0] || mark.x > x[1]) continue;
      const px = across.a + across.b * mark.x;
      // Marks that would overlap are drawn once.
      if (px - last < 4 * ratio) continue;
      last = px;
      drawMark(ctx, mark.kind, px, area, ratio);
    }
  }
  ctx.restore();
}

function drawMark(
  ctx: CanvasRenderingContext2D,
  kind: MarkKind,
  x: number,
  { top, height }: Area,
  ratio: number,
): void {
  const r = 3 * ratio;
  const ground = top + height - r - ratio;
  const ceiling = top + r + ratio;
  ctx.beginPath();
  if (kind === "nan") {
    ctx.moveTo(x - r, ground - r);
    ctx.lineTo(x + r, ground + r);
    ctx.moveTo(x - r, ground + r);
    ctx.lineTo(x + r, ground - r);
    ctx.stroke();
    return;
  }
  if (kind !== "-inf") {
    ctx.moveTo(x, ceiling - r);
    ctx.lineTo(x + r, ceiling + r);
    ctx.lineTo(x - r, ceiling + r);
  }
  if (kind !== "inf") {
    ctx.moveTo(x, ground + r);
    ctx.lineTo(x + r, ground - r);
    ctx.lineTo(x - r, ground - r);
  }
  ctx.fill();
}

/** Draws the starts of runs as short strokes above the x axis. */
export function drawTicks(
  ctx: CanvasRenderingContext2D,
  { area, ratio, x }: Frame,
  ticks: readonly Tick[],
): void {
  const across = axisOf(area.left, area.width, x, false);
  ctx.save();
  ctx.lineWidth = ratio;
  for (const tick of ticks) {
    if (tick.x < x[0] || tick.x > x[1]) continue;
    const px = Math.round(across.a + across.b * tick.x) + 0.5;
    ctx.strokeStyle = tick.colour;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(px, area.top + area.height);
    ctx.lineTo(px, area.top + area.height - 10 * ratio);
    ctx.stroke();
    ctx.globalAlpha = 0.35;
    ctx.setLineDash([2 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(px, area.top);
    ctx.lineTo(px, area.top + area.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  ctx.restore();
}
