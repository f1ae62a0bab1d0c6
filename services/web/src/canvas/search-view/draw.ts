/** Draws the layout of a search's picture onto a canvas, in CSS pixels: the caller has scaled the context. */
import { lineStyleOf, lineStylesOf } from "../../components/chart/line-style.ts";
import { number } from "../../components/format.ts";
import type { Colours } from "../../theme/colours.ts";
import { headsOf } from "./heads.ts";
import { heightAt, type SearchLayout, stub, type Thread, type ThreadPoint } from "./layout.ts";
import { decisionMarkOf, endMarkOf } from "./marks.ts";

export type SearchEmphasis = {
  readonly best: number | null;
  readonly chosen: number | null;
  readonly hovered: number | null;
};

export function drawSearch(
  ctx: CanvasRenderingContext2D,
  layout: SearchLayout,
  emphasis: SearchEmphasis,
  timeName: string,
  colours: Colours,
): void {
  ctx.clearRect(0, 0, layout.width, layout.height);
  ctx.font = `11px ${colours.mono}`;
  ctx.textBaseline = "middle";
  drawColumns(ctx, layout, colours);
  drawAxis(ctx, layout, timeName, colours);
  drawLineage(ctx, layout, colours);
  const emphasised = new Set(
    [emphasis.best, emphasis.chosen, emphasis.hovered].filter((trial) => trial !== null),
  );
  const looks = lineStylesOf(
    layout.threads.map(({ trial }) => ({ of: trial, look: trial })),
    emphasised,
  );
  const rank = ({ trial }: Thread): number =>
    trial === emphasis.hovered ? 3 : trial === emphasis.chosen ? 2 : Number(emphasised.has(trial));
  for (const thread of layout.threads.toSorted((a, b) => rank(a) - rank(b))) {
    const { hue = null, dash = [] } = looks.get(thread.trial) ?? {};
    ctx.strokeStyle = hue === null ? colours.grey : (colours.hues[hue - 1] ?? colours.grey);
    ctx.setLineDash([...dash]);
    ctx.lineWidth = rank(thread) > 1 ? 3 : rank(thread) > 0 ? 2 : 1.25;
    ctx.globalAlpha = hue === null ? 0.6 : 1;
    strokeThread(ctx, thread, layout.columns.length > 0);
    drawEnd(ctx, thread, layout.slot, emphasised.has(thread.trial), colours);
  }
  drawMarks(ctx, layout, colours);
  ctx.globalAlpha = 1;
}

function drawColumns(
  ctx: CanvasRenderingContext2D,
  { columns }: SearchLayout,
  colours: Colours,
): void {
  ctx.textAlign = "center";
  const heads = headsOf(columns);
  for (const [index, { x, top, bottom, cutoffY }] of columns.entries()) {
    const head = heads[index];
    ctx.setLineDash([]);
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1;
    line(ctx, x, top + 52, x, bottom);
    ctx.fillStyle = colours.text;
    ctx.fillText(head?.units ?? "", x, top + 10);
    ctx.fillStyle = colours.muted;
    ctx.fillText(head?.kept ?? "", x, top + 26);
    if (cutoffY === null) continue;
    ctx.strokeStyle = colours.teal;
    ctx.lineWidth = 2;
    line(ctx, x - 26, cutoffY, x + 26, cutoffY);
    ctx.fillStyle = colours.teal;
    ctx.fillText(head?.cutoff ?? "", x, top + 40);
  }
}

function drawAxis(
  ctx: CanvasRenderingContext2D,
  { axis, height, timeOf }: SearchLayout,
  timeName: string,
  colours: Colours,
): void {
  ctx.setLineDash([]);
  ctx.strokeStyle = colours.line;
  ctx.fillStyle = colours.muted;
  ctx.lineWidth = 1;
  const [first] = axis;
  if (first !== undefined) {
    ctx.textAlign = "left";
    ctx.fillText(axisTitle(timeOf, timeName), first.x, 10);
  }
  ctx.textAlign = "center";
  for (const { x, units } of axis) {
    line(ctx, x, 40, x, height);
    ctx.fillText(number(units), x, 26);
  }
}

const axisTitle = (timeOf: SearchLayout["timeOf"], timeName: string): string =>
  timeOf === "trial" ? `${timeName} of the trial` : `${timeName} of all trials`;

function drawLineage(
  ctx: CanvasRenderingContext2D,
  { lineage }: SearchLayout,
  colours: Colours,
): void {
  ctx.strokeStyle = colours.violet;
  ctx.lineWidth = 1.25;
  ctx.setLineDash([2, 3]);
  for (const { x, fromY, toY } of lineage) {
    ctx.beginPath();
    ctx.moveTo(x, fromY);
    ctx.bezierCurveTo(x - 14, fromY, x - 14, toY, x, toY);
    ctx.stroke();
  }
}

function strokeThread(
  ctx: CanvasRenderingContext2D,
  { points, ongoing }: Thread,
  rungs: boolean,
): void {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return;
  ctx.beginPath();
  ctx.moveTo(rungs ? first.x - stub : first.x, first.y);
  ctx.lineTo(first.x, first.y);
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before !== undefined) curve(ctx, before, point);
  }
  if (ongoing && rungs) ctx.lineTo(last.x + stub, last.y);
  ctx.stroke();
}

/** Draws the curve in fine steps, by the same function that finds the thread under the pointer. */
function curve(ctx: CanvasRenderingContext2D, a: ThreadPoint, b: ThreadPoint): void {
  const steps = Math.max(1, Math.min(24, Math.ceil((b.x - a.x) / 8)));
  for (let step = 1; step <= steps; step += 1) {
    const x = a.x + ((b.x - a.x) * step) / steps;
    ctx.lineTo(x, heightAt(a, b, x));
  }
}

/** Draws the mark of the state at the thread's end. */
function drawEnd(
  ctx: CanvasRenderingContext2D,
  { points, state, trial, ongoing }: Thread,
  slot: number,
  emphasised: boolean,
  colours: Colours,
): void {
  const last = points.at(-1);
  if (last === undefined) return;
  const x = last.x + (ongoing ? stub : 0);
  const { y } = last;
  const r = Math.min(4, slot / 2.5);
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5;
  const { glyph, colour } = endMarkOf(state);
  ctx.fillStyle = colours[colour];
  ctx.strokeStyle = ctx.fillStyle;
  if (glyph === "bar") line(ctx, x, y - r, x, y + r);
  else if (glyph === "cross") {
    line(ctx, x - r, y - r, x + r, y + r);
    line(ctx, x - r, y + r, x + r, y - r);
  } else {
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    if (glyph === "dot") ctx.fill();
    else ctx.stroke();
  }
  if (slot < 11 && !emphasised) return;
  ctx.textAlign = "left";
  ctx.fillStyle = emphasised
    ? (colours.hues[(lineStyleOf(trial).hue ?? 1) - 1] ?? colours.text)
    : colours.muted;
  ctx.fillText(String(trial), x + 7, y);
}

function drawMarks(
  ctx: CanvasRenderingContext2D,
  { marks, slot }: SearchLayout,
  colours: Colours,
): void {
  const r = Math.min(4, slot / 2.5);
  ctx.globalAlpha = 1;
  ctx.lineWidth = 2;
  for (const { x, y, verb } of marks) {
    ctx.strokeStyle = colours[decisionMarkOf(verb).colour];
    line(ctx, x, y - r, x, y + r);
  }
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
