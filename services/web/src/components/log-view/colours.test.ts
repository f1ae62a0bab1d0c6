import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contrast,
  cssColour,
  extremeOn,
  paletteColour,
  readable,
  themeBackgrounds,
} from "./colours.ts";

const colour = fc.integer({ min: 0, max: 0xffffff });

describe("a program's colour", () => {
  it("is legible on the page's background in both themes, and keeps its hue if it was legible", () => {
    for (const background of Object.values(themeBackgrounds)) {
      fc.assert(
        fc.property(colour, (given) => {
          const shown = readable(given, background);
          expect(contrast(shown, background)).toBeGreaterThanOrEqual(5.2);
          if (contrast(given, background) >= 5.2) expect(shown).toBe(given);
        }),
      );
    }
  });

  it("is legible on the background that the program chose", () => {
    fc.assert(
      fc.property(colour, colour, (given, background) => {
        const most = contrast(extremeOn(background), background);
        expect(contrast(readable(given, background), background)).toBeGreaterThanOrEqual(
          Math.min(5.2, most),
        );
        expect(most).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });

  it("is one of the cube or of the greys beyond sixteen", () => {
    expect([16, 21, 196, 231, 232, 255].map((index) => cssColour(paletteColour(index)))).toEqual([
      "#000000",
      "#0000ff",
      "#ff0000",
      "#ffffff",
      "#080808",
      "#eeeeee",
    ]);
  });
});
