import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyIdMap, hashOf, type IdMap, valueOfId, withId } from "./id-map.ts";

const ids = fc.array(fc.tuple(fc.string({ maxLength: 4 }), fc.nat()), { maxLength: 400 });

describe("a map of ids", () => {
  it("is what a Map is, and leaves its earlier states as they were", () => {
    fc.assert(
      fc.property(ids, (entries) => {
        const model = new Map<string, number>();
        let map: IdMap<number> = emptyIdMap();
        for (const [id, value] of entries) {
          const before = map;
          const had = valueOfId(before, id);
          map = withId(map, id, value);
          expect(valueOfId(before, id)).toBe(had);
          model.set(id, value);
        }
        const stored = JSON.parse(JSON.stringify(map)) as IdMap<number>;
        for (const [id, value] of model) expect(valueOfId(stored, id)).toBe(value);
        expect(valueOfId(map, "not there")).toBe(undefined);
      }),
    );
  });

  it("keeps many ids of one pattern few steps deep", () => {
    let map: IdMap<number> = emptyIdMap();
    for (let n = 0; n < 5_000; n += 1) map = withId(map, `${n}-0`, n);
    for (let n = 0; n < 5_000; n += 1) expect(valueOfId(map, `${n}-0`)).toBe(n);
    expect(JSON.stringify(map)).not.toContain('"below":'.repeat(6));
  });
});

describe("the hash", () => {
  it("is FNV-1a", () => {
    // The function's published test values.
    expect(hashOf("")).toBe(0x811c9dc5);
    expect(hashOf("a")).toBe(0xe40c292c);
    expect(hashOf("foobar")).toBe(0xbf9cf968);
  });
});
