/** The look of a line depends on the look number of its trial alone, so that a trial is the same in each chart. */
import type { Colours } from "../../theme/colours.ts";

export const hues = 8;
/** In charts of more trials than this, only emphasised trials have their hue; the others are grey. */
export const coloursMax = 16;

/** Lengths of strokes and gaps in CSS pixels, for each round through the hues. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export type LineStyle = {
  /** The number of a theme colour, from 1 to 8; null for grey. */
  readonly hue: number | null;
  readonly dash: readonly number[];
};

export function lineStyleOf(look: number): LineStyle {
  const index = Math.max(0, Math.floor(look) - 1);
  return { hue: (index % hues) + 1, dash: dashes[Math.floor(index / hues) % dashes.length] ?? [] };
}

/** Returns the looks of the trials in one chart, by what a line is of: a trial, or a group of trials. */
export function lineStylesOf<Of>(
  lines: readonly { readonly of: Of; readonly look: number }[],
  emphasised: ReadonlySet<Of>,
): ReadonlyMap<Of, LineStyle> {
  const looks = new Map(lines.map(({ of, look }) => [of, look]));
  const grey = looks.size > coloursMax;
  return new Map(
    [...looks].map(([of, look]) => [
      of,
      grey && !emphasised.has(of) ? { hue: null, dash: [] } : lineStyleOf(look),
    ]),
  );
}

/** The colour and the dashes of a look in the theme. */
export function strokeOf(
  { hue, dash }: LineStyle = { hue: null, dash: [] },
  { hues: colours, grey }: Pick<Colours, "hues" | "grey">,
): { readonly colour: string; readonly dash: readonly number[] } {
  return { colour: hue === null ? grey : (colours[hue - 1] ?? grey), dash };
}
