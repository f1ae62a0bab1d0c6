import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

type Rgb = readonly [number, number, number];

const css = readFileSync(
  join(import.meta.dirname, "../../services/web/src/theme/tokens.css"),
  "utf8",
);
const [light = "", dark = ""] = css.split("}");
const tokensOf = (block: string): ReadonlyMap<string, Rgb> =>
  new Map(
    [...block.matchAll(/--([a-z0-9-]+): #([0-9a-f]{6});/g)].map(([, name = "", hex = ""]) => [
      name,
      [0, 2, 4].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16))) as unknown as Rgb,
    ]),
  );

const linear = (byte: number): number => {
  const share = byte / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

function contrast(a: Rgb, b: Rgb): number {
  const light = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [low, high] = [light(a), light(b)].toSorted((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/** Matrices of Machado, Oliveira and Fernandes 2009, severity 1, in linear light; the first is normal sight. */
const sights: readonly (readonly number[])[] = [
  [1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
];

function seen([r, g, b]: Rgb, sight: readonly number[]): Rgb {
  return [0, 3, 6].map((row) => {
    const value = (sight[row] ?? 0) * r + (sight[row + 1] ?? 0) * g + (sight[row + 2] ?? 0) * b;
    return Math.min(1, Math.max(0, value));
  }) as unknown as Rgb;
}

/** Converts a colour to Oklab (Ottosson 2020). */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

describe.each([
  ["light", light],
  ["dark", dark],
])("the %s theme", (_name, block) => {
  const tokens = tokensOf(block);
  const of = (name: string): Rgb => tokens.get(name) ?? [Number.NaN, Number.NaN, Number.NaN];
  const hues = [1, 2, 3, 4, 5, 6, 7, 8].map((hue) => of(`hue-${hue}`));

  it("has text and states at 4.5:1 or more on both backgrounds", () => {
    for (const name of "text muted accent violet amber green teal red".split(" ")) {
      for (const ground of ["background", "surface"]) {
        expect([name, contrast(of(name), of(ground)) >= 4.5]).toEqual([name, true]);
      }
    }
  });

  it("has hues of trials at 3:1 or more on both backgrounds", () => {
    for (const [index, hue] of hues.entries()) {
      const least = Math.min(contrast(hue, of("background")), contrast(hue, of("surface")));
      expect([index + 1, least >= 3]).toEqual([index + 1, true]);
    }
  });

  it("has hues that colour-blind people can distinguish", () => {
    for (const sight of sights) {
      const labs = hues.map((hue) => oklab(seen(hue, sight)));
      for (const [i, a] of labs.entries()) {
        for (const [j, b] of labs.entries()) {
          if (j >= i) continue;
          const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
          expect([i + 1, j + 1, distance >= 0.099]).toEqual([i + 1, j + 1, true]);
        }
      }
    }
  });
});
