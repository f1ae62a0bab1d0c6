import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draw, drawInteger, philox } from "./rng.ts";

describe("philox", () => {
  // The known-answer vectors published with Random123 (kat_vectors, philox4x32 10).
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ] as const)("matches the published vector: counter %j, key %j", (counter, key, expected) => {
    expect(philox(counter, key)).toEqual(expected);
  });
});

describe("draw", () => {
  it("is a function of seed, stream and counter", () => {
    expect(draw(7, "a", 3)).toBe(draw(7, "a", 3));
    expect(new Set([draw(7, "a", 3), draw(8, "a", 3), draw(7, "b", 3), draw(7, "a", 4)]).size).toBe(
      4,
    );
  });

  it("is in [0, 1) for every seed and counter", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.string(), fc.maxSafeNat(), (seed, stream, n) => {
        const value = draw(seed, stream, n);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(1);
      }),
    );
  });

  it("is uniform: 100,000 draws have the right mean and variance", () => {
    const values = Array.from({ length: 100_000 }, (_, n) => draw(1, "uniform", n));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(mean).toBeCloseTo(0.5, 2);
    expect(variance).toBeCloseTo(1 / 12, 2);
  });

  it("returns every integer below the bound", () => {
    const seen = new Set(Array.from({ length: 1_000 }, (_, n) => drawInteger(1, "dice", n, 6)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
