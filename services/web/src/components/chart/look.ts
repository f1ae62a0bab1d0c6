/** How the line of a trial looks: by its number alone, so that a trial looks the same in each chart. */

export const hues = 8;
/** Trials beyond this many share grey, and only the emphasised ones have their hue. */
export const coloursMax = 16;

/** Lengths of strokes and gaps in CSS pixels, by how often the hues have been used up. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export type Look = {
  /** 1 to 8, the number of a colour of the theme; null for grey. */
  readonly hue: number | null;
  readonly dash: readonly number[];
};

export function lookOf(trial: number): Look {
  const index = Math.max(0, Math.floor(trial) - 1);
  return { hue: (index % hues) + 1, dash: dashes[Math.floor(index / hues) % dashes.length] ?? [] };
}

/** The looks of trials that are in one chart. */
export function looksOf(
  trials: readonly number[],
  emphasised: ReadonlySet<number>,
): ReadonlyMap<number, Look> {
  const different = [...new Set(trials)];
  const grey = different.length > coloursMax;
  return new Map(
    different.map((trial) => [
      trial,
      grey && !emphasised.has(trial) ? { hue: null, dash: [] } : lookOf(trial),
    ]),
  );
}
