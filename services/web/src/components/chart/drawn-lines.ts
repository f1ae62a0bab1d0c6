/** Computes the look of a chart's lines: hue and dash by trial, emphasised lines on top. */
import type { Colours } from "../../theme/colours.ts";
import type { DrawnLine } from "./draw.ts";
import { lineStylesOf, strokeOf } from "./line-style.ts";
import type { Drawn } from "./nearest.ts";

export type Emphasis = {
  /** Trials that keep their hue among many: the best and the selected ones. */
  readonly emphasised: ReadonlySet<string>;
  /** The trial under the pointer: the others are drawn faintly. */
  readonly highlighted: string | null;
};

type Palette = Pick<Colours, "hues" | "grey">;

/** Returns the lines in the order of drawing. Averages are drawn above the values, which stay visible, faintly. */
export function drawnLines(
  lines: readonly Drawn[],
  { emphasised, highlighted }: Emphasis,
  palette: Palette,
): readonly DrawnLine[] {
  const coloured = highlighted === null ? emphasised : new Set([...emphasised, highlighted]);
  const looks = lineStylesOf(
    lines.map(({ line }) => line),
    coloured,
  );
  const isFaint = highlighted !== null && lines.some(({ line }) => line.of === highlighted);
  const drawn = lines.flatMap(({ line, y }): DrawnLine[] => {
    const look = looks.get(line.of);
    const hue = look?.hue ?? null;
    const validation = line.group === "validation";
    const width = (validation ? 1.75 : 1) + (line.of === highlighted ? 0.75 : 0);
    const back = hue === null ? 0.45 : 1;
    const alpha = isFaint && line.of !== highlighted ? back * 0.5 : back;
    const one = {
      line,
      ...strokeOf(look, palette),
      alpha,
      band: hue !== null && line.points > line.x.length,
    };
    // A line through one point is not visible.
    const dots = validation || line.x.length === 1;
    if (y === line.y) return [{ ...one, y, width, dots }];
    return [
      { ...one, y: line.y, width: 1, alpha: alpha * 0.3, dots: false },
      { ...one, y, width, band: false, dots },
    ];
  });
  const rank = ({ line }: DrawnLine): number =>
    (line.of === highlighted ? 2 : 0) + (emphasised.has(line.of) ? 1 : 0);
  return drawn.toSorted((a, b) => rank(a) - rank(b));
}
