/** Computes the look of a chart's lines: hue and dash by trial, emphasised lines on top. */
import type { Colours } from "../../theme/colours.ts";
import type { DrawnLine } from "./draw.ts";
import type { Line } from "./line.ts";
import { lineStylesOf } from "./line-style.ts";
import { smoothed } from "./smooth.ts";

export type Emphasis = {
  /** Trials that keep their hue among many: the best and the selected ones. */
  readonly trials: ReadonlySet<number>;
  /** The trial under the pointer: the others are drawn faintly. */
  readonly hovered: number | null;
};

type Palette = Pick<Colours, "hues" | "grey">;

export function drawnLines(
  lines: readonly Line[],
  { trials, hovered }: Emphasis,
  smoothing: number,
  { hues, grey }: Palette,
): readonly DrawnLine[] {
  const emphasised = hovered === null ? trials : new Set([...trials, hovered]);
  const looks = lineStylesOf(
    lines.map(({ trial }) => trial),
    emphasised,
  );
  const drawn = lines.flatMap((line): DrawnLine[] => {
    const { hue = null, dash = [] } = looks.get(line.trial) ?? {};
    const validation = line.group === "validation";
    const width = (validation ? 1.75 : 1) + (line.trial === hovered ? 0.75 : 0);
    const back = hue === null ? 0.45 : 1;
    const alpha = hovered !== null && line.trial !== hovered ? back * 0.5 : back;
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
    (line.trial === hovered ? 2 : 0) + (trials.has(line.trial) ? 1 : 0);
  return drawn.toSorted((a, b) => rank(a) - rank(b));
}
