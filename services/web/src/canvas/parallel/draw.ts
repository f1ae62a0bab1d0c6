/** Draws parallel coordinates, in CSS pixels: the caller has scaled the context. */
import type { Colours } from "../../theme/colours.ts";
import { type Axis, type Brushes, type PlacedRow, xOfAxis } from "./layout.ts";

export const margin = 64;
export const top = 20;
export const bottom = 16;

export type ParallelView = {
  readonly width: number;
  readonly height: number;
  readonly axes: readonly Axis[];
  readonly rows: readonly PlacedRow[];
  /** Ids of the rows within all brushes; other rows are drawn faintly. */
  readonly inside: ReadonlySet<string>;
  readonly chosen: ReadonlySet<string>;
  readonly brushes: Brushes;
  /** The rank of a row that colours its line: 0 is best. */
  readonly rankOf: (row: PlacedRow) => number;
};

export function drawParallel(
  ctx: CanvasRenderingContext2D,
  view: ParallelView,
  colours: Colours,
): void {
  const { width, height, rows, inside, chosen, rankOf } = view;
  ctx.clearRect(0, 0, width, height);
  ctx.lineJoin = "round";
  ctx.setLineDash([]);
  ctx.strokeStyle = colours.grey;
  ctx.globalAlpha = 0.15;
  ctx.lineWidth = 1;
  strokeRows(
    ctx,
    view,
    rows.filter(({ id }) => !inside.has(id)),
  );
  const shown = rows.filter(({ id }) => inside.has(id) && !chosen.has(id));
  // Rows are drawn from worst to best, each fifth stronger than the one before.
  for (const fifth of [4, 3, 2, 1, 0]) {
    ctx.strokeStyle = fifth === 0 ? colours.accent : colours.muted;
    ctx.globalAlpha = [1, 0.75, 0.55, 0.4, 0.28][fifth] ?? 1;
    ctx.lineWidth = fifth === 0 ? 1.5 : 1;
    const isIn = (row: PlacedRow): boolean => Math.min(4, Math.floor(rankOf(row) * 5)) === fifth;
    strokeRows(ctx, view, shown.filter(isIn));
  }
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colours.violet;
  ctx.lineWidth = 2.5;
  strokeRows(
    ctx,
    view,
    rows.filter(({ id }) => chosen.has(id)),
  );
  drawAxes(ctx, view, colours);
}

export const yOfShare = (share: number, height: number): number =>
  height - bottom - share * (height - top - bottom);

export const shareOfY = (y: number, height: number): number =>
  Math.min(1, Math.max(0, (height - bottom - y) / (height - top - bottom)));

/** One path has all lines: five thousand lines are a single call. */
function strokeRows(
  ctx: CanvasRenderingContext2D,
  { axes, width, height }: ParallelView,
  rows: readonly PlacedRow[],
): void {
  ctx.beginPath();
  for (const { shares } of rows) {
    let open = false;
    for (let index = 0; index < shares.length; index += 1) {
      const share = shares[index] ?? Number.NaN;
      if (Number.isNaN(share)) {
        open = false;
        continue;
      }
      const x = xOfAxis(index, axes.length, width, margin);
      if (open) ctx.lineTo(x, yOfShare(share, height));
      else ctx.moveTo(x, yOfShare(share, height));
      open = true;
    }
  }
  ctx.stroke();
}

function drawAxes(
  ctx: CanvasRenderingContext2D,
  { axes, width, height, brushes }: ParallelView,
  colours: Colours,
): void {
  ctx.textBaseline = "middle";
  for (const [index, { name, ticks, kind }] of axes.entries()) {
    const x = xOfAxis(index, axes.length, width, margin);
    ctx.strokeStyle = colours.muted;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, height - bottom);
    ctx.stroke();
    const brush = brushes.get(name);
    if (brush !== undefined) {
      ctx.fillStyle = colours.accent;
      ctx.globalAlpha = 0.35;
      const [low, high] = brush;
      ctx.fillRect(
        x - 6,
        yOfShare(high, height),
        12,
        Math.max(2, yOfShare(low, height) - yOfShare(high, height)),
      );
      ctx.globalAlpha = 1;
    }
    ctx.font = `11px ${colours.mono}`;
    ctx.fillStyle = colours.muted;
    ctx.textAlign = "center";
    if (kind === "log") ctx.fillText("log", x, 8);
    ctx.textAlign = "left";
    for (const { share, text } of ticks) {
      const y = yOfShare(share, height);
      const length = ctx.measureText(short(text)).width;
      ctx.globalAlpha = 0.75;
      ctx.fillStyle = colours.background;
      ctx.fillRect(x + 5, y - 7, length + 4, 14);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colours.muted;
      ctx.fillText(short(text), x + 7, y);
    }
  }
}

const short = (text: string): string => (text.length > 18 ? `${text.slice(0, 17)}…` : text);
