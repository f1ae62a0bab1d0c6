/**
 * Makes colours of programs legible: a program does not know the page's background. Contrast is defined as in WCAG 2.2.
 * Colours are 0xRRGGBB.
 */

/** The backgrounds of the two themes; they equal --background in theme/tokens.css. */
export const themeBackgrounds = { light: 0xfcfcfd, dark: 0x0e1013 } as const;

/** More than the 4.5 of WCAG, so that a hovered or selected line stays legible. */
const contrastMin = 5.2;

// The sixteen terminal colours of xterm, with a blue that is legible on black.
const sixteen = [
  0x000000, 0xcd3131, 0x0d9f5f, 0xb58900, 0x2472c8, 0xa347ba, 0x11a8cd, 0xc5c8cc, 0x666666,
  0xf14c4c, 0x23d18b, 0xf5d742, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
] as const;
const cubeSteps = [0, 95, 135, 175, 215, 255] as const;

/** A colour of the 256: the sixteen, a cube of 6 x 6 x 6, and 24 greys. */
export function paletteColour(index: number): number {
  if (index < 16) return sixteen[index] ?? 0;
  if (index >= 232) return (8 + (index - 232) * 10) * 0x01_01_01;
  const place = index - 16;
  const step = (divisor: number) => cubeSteps[Math.floor(place / divisor) % 6] ?? 0;
  return (step(36) << 16) | (step(6) << 8) | step(1);
}

const channels = (colour: number) => [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];

/** The relative luminance: 0 for black to 1 for white. */
export function luminance(colour: number): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast: 1 for equal colours to 21 for black on white. */
export function contrast(one: number, other: number): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Mixes the colour with black or white until it is legible on the background. */
export function readable(colour: number, background: number): number {
  if (contrast(colour, background) >= contrastMin) return colour;
  const end = extremeOn(background);
  let [less, enough] = [0, 1];
  for (let step = 0; step < 7; step += 1) {
    const half = (less + enough) / 2;
    if (contrast(mix(colour, end, half), background) >= contrastMin) enough = half;
    else less = half;
  }
  return mix(colour, end, enough);
}

/** Returns black or white, whichever has the greater contrast. */
export function extremeOn(background: number): number {
  return contrast(0xffffff, background) >= contrast(0, background) ? 0xffffff : 0;
}

function mix(colour: number, end: number, share: number): number {
  const ends = channels(end);
  return channels(colour).reduce(
    (mixed, channel, index) =>
      (mixed << 8) | Math.round(channel + ((ends[index] ?? 0) - channel) * share),
    0,
  );
}

export const cssColour = (colour: number): string => `#${colour.toString(16).padStart(6, "0")}`;

/** The CSS colour of a text of this colour on the page's background, in either theme. */
export function onPage(colour: number): string {
  const { light, dark } = themeBackgrounds;
  return `light-dark(${cssColour(readable(colour, light))}, ${cssColour(readable(colour, dark))})`;
}
