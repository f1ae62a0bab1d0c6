/** Computes the look of a chart's lines: hue and dash by trial, emphasised lines on top. */
import type { Colours } from "../../theme/colours.ts";
import type { DrawnLine } from "./draw.ts";
import type { Line } from "./line.ts";
import { lineStylesOf } from "./line-style.ts";
import { smoothed } from "./smooth.ts";

export type Emphasis = {
  /** Trials that keep their hue among many: the best and the selected ones. */
  readonly emphasised: ReadonlySet<string>;
  /** The trial under the pointer: the others are drawn faintly. */
  readonly highlighted: string | null;
};

type Palette = Pick<Colours, "hues" | "grey">;

export function drawnLines(
  lines: readonly Line[],
  { emphasised, highlighted }: Emphasis,
  smoothing: number,
  { hues, grey }: Palette,
): readonly DrawnLine[] {
  const coloured = highlighted === null ? emphasised : new Set([...emphasised, highlighted]);
  const looks = lineStylesOf(lines, coloured);
  const isFaint = highlighted !== null && lines.some(({ of }) => of === highlighted);
  const drawn = lines.flatMap((line): DrawnLine[] => {
    const { hue = null, dash = [] } = looks.get(line.of) ?? {};
    const validation = line.group === "validation";
    const width = (validation ? 1.75 : 1) + (line.of === highlighted ? 0.75 : 0);
    const back = hue === null ? 0.45 : 1;
    const alpha = isFaint && line.of !== highlighted ? back * 0.5 : back;
    const one = {
      line,
      colour: hue === null ? grey : (hues[hue - 1] ?? grey),
      dash,
      alpha,
      band: hue !== null && line.points > line.x.length,
    };
    // A line through one point is not visible.
    const dots = validation || line.x.length === 1;
    if (smoothing <= 0) return [{ ...one, y: line.y, width, dots }];
    // Reported values stay visible, faintly, behind the average.
    return [
      { ...one, y: line.y, width: 1, alpha: alpha * 0.3, dots: false },
      { ...one, y: smoothed(line.y, smoothing), width, band: false, dots },
    ];
  });
  const rank = ({ line }: DrawnLine): number =>
    (line.of === highlighted ? 2 : 0) + (emphasised.has(line.of) ? 1 : 0);
  return drawn.toSorted((a, b) => rank(a) - rank(b));
}
