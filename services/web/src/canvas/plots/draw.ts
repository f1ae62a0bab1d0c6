/** Draws scatter plots and heat maps, in CSS pixels: the caller has scaled the context. */
import type { Colours } from "../../theme/colours.ts";
import {
  boxOf,
  type Cell,
  type Dot,
  type Frame,
  type Heat,
  type PlacedTick,
  valueText,
} from "./layout.ts";

type Ticks = { readonly across: readonly PlacedTick[]; readonly up: readonly PlacedTick[] };

type Drawn = {
  readonly width: number;
  readonly height: number;
  readonly frame: Frame;
  readonly ticks: Ticks;
};

export function drawScatter(
  ctx: CanvasRenderingContext2D,
  view: Drawn & { readonly dots: readonly Dot[]; readonly hovered: string | undefined },
  colours: Colours,
): void {
  drawFrame(ctx, view, colours);
  // The best fifth is drawn over the others.
  for (const isBest of [false, true]) {
    ctx.fillStyle = isBest ? colours.accent : colours.muted;
    ctx.globalAlpha = isBest ? 0.9 : 0.45;
    for (const dot of view.dots) if (dot.merit >= 0.8 === isBest) circle(ctx, dot, 3);
  }
  ctx.globalAlpha = 1;
  ctx.fillStyle = colours.violet;
  for (const dot of view.dots) if (dot.id === view.hovered) circle(ctx, dot, 5);
}

function circle(ctx: CanvasRenderingContext2D, { x, y }: Dot, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
}

/** Narrower cells show no number. */
const numberWidth = 44;

export function drawHeat(
  ctx: CanvasRenderingContext2D,
  view: Drawn & { readonly heat: Heat; readonly hovered: Cell | null },
  colours: Colours,
): void {
  drawFrame(ctx, view, colours);
  ctx.textAlign = "center";
  for (const cell of view.heat.cells) {
    const { left, top, width, height } = boxOf(cell, view.heat, view.frame);
    ctx.globalAlpha = 0.08 + 0.52 * cell.merit;
    ctx.fillStyle = colours.accent;
    ctx.fillRect(left + 1, top + 1, width - 2, height - 2);
    ctx.globalAlpha = 1;
    if (cell === view.hovered) {
      ctx.strokeStyle = colours.violet;
      ctx.lineWidth = 2;
      ctx.strokeRect(left + 1, top + 1, width - 2, height - 2);
    }
    ctx.fillStyle = colours.text;
    if (width >= numberWidth && height >= 14) {
      ctx.fillText(
        valueText(Number(cell.mean.toPrecision(3))),
        left + width / 2,
        top + height / 2,
        width - 4,
      );
    }
  }
}

function drawFrame(
  ctx: CanvasRenderingContext2D,
  { width, height, frame, ticks }: Drawn,
  colours: Colours,
): void {
  ctx.clearRect(0, 0, width, height);
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = 1;
  ctx.strokeRect(frame.left, frame.top, frame.width, frame.height);
  ctx.font = `11px ${colours.mono}`;
  ctx.fillStyle = colours.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const { at, text } of ticks.up) ctx.fillText(short(text, 9), frame.left - 6, at);
  ctx.textAlign = "center";
  // Only categories can be longer than this: `ticksOf` leaves out numbers that do not fit.
  const space = frame.width / Math.max(1, ticks.across.length);
  const letters = Math.max(8, Math.floor(space / 7) - 1);
  for (const { at, text } of ticks.across) {
    ctx.fillText(short(text, letters), at, frame.top + frame.height + 12);
  }
}

const short = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
