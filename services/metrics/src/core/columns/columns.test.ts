import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../values.ts";
import {
  aggregations,
  decodeFrame,
  decodeReports,
  decodeScalars,
  encodeBlock,
  inOrder,
  type StoredReport,
  splitKey,
  summaryOf,
} from "./block.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { addKeys, decodeLedger, encodeLedger, hasKey, rangesOf } from "./key-ledger.ts";
import { readNumbers, writeNumbers } from "./numbers.ts";
import { readTail, tailText } from "./tail.ts";

function written(numbers: readonly number[]): Uint8Array {
  const to = new ByteWriter();
  writeNumbers(to, numbers);
  return to.done();
}

const value = fc.oneof(
  fc.double(),
  fc.float(),
  fc.integer(),
  fc.constantFrom(0, -0, 2 ** 49, -(2 ** 49), 2 ** 53, 1e300, Number.NaN, Infinity, -Infinity),
);

describe("numbers", () => {
  test("come back as they were, bit for bit", () => {
    fc.assert(
      fc.property(fc.array(value), (numbers) => {
        expect([...readNumbers(new ByteReader(written(numbers)))]).toEqual(numbers);
      }),
    );
  });

  test("that are evenly spaced, or all the same, take no room", () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => 100 + 50 * n);
    expect(written(steps).length).toBeLessThan(16);
    expect(written(steps.map(() => 0.001)).length).toBeLessThan(16);
    expect(written(steps.map((n) => Math.fround(Math.sin(n)))).length).toBeLessThan(40_010);
  });

  test("of an unknown form are refused, and bytes that end too early", () => {
    expect(() => readNumbers(new ByteReader(Uint8Array.of(1, 9)))).toThrow("newer version");
    expect(() => readNumbers(new ByteReader(written([0.1, 0.2]).slice(0, 9)))).toThrow(RangeError);
  });
});

test("text comes back as it was, whatever is in it", () => {
  const long = fc
    .tuple(fc.string({ unit: "binary" }), fc.nat(3))
    .map(([part, n]) => part + "x".repeat(4_095 + n) + part);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), long), (text) => {
      const to = new ByteWriter();
      to.text(text);
      to.varint(7);
      const from = new ByteReader(to.done());
      expect([from.text(), from.varint()]).toEqual([text, 7]);
    }),
  );
});

const json = fc.oneof(
  value.map((number) => (Number.isFinite(number) ? number : String(number))),
  fc.constantFrom<JsonObject[string]>("text", true, null, [1, { deep: ["NaN"] }], {}, "é\u{1f600}"),
);
const key = fc.oneof(
  fc.tuple(fc.nat(3), fc.nat(50)).map(([rank, n]) => `${rank}-${n}`),
  fc.string({ minLength: 1 }),
  fc.constantFrom("0-", "-1", "0-007", "a-b-12", "0-99999999999999999"),
);
// JSON has no -0.
const finite = (min: number) =>
  fc.double({ min, noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
const report: fc.Arbitrary<StoredReport> = fc.record({
  key,
  step: fc.oneof(fc.nat(20), finite(0)),
  atMs: fc.oneof(fc.nat(), finite(-1e15)),
  rank: fc.nat(3),
  aggregation: fc.constantFrom(...aggregations),
  metrics: fc.dictionary(fc.constantFrom("loss", "lr", "a", "__proto__", "note"), json),
});
const reports = fc.uniqueArray(report, {
  minLength: 1,
  maxLength: 40,
  selector: ({ key: k }) => k,
});

describe("a block", () => {
  test("decodes to the reports that it was made of, in order", () => {
    fc.assert(
      fc.property(reports, (given) => {
        const { frame, columns } = encodeBlock(given);
        const back = decodeReports(frame, columns);
        expect(back.map((one) => ({ ...one, metrics: { ...one.metrics } }))).toEqual(
          given.toSorted(inOrder).map((one) => ({ ...one, metrics: { ...one.metrics } })),
        );
      }),
    );
  });

  test("made of two blocks is the block of all their reports", () => {
    fc.assert(
      fc.property(reports, fc.nat(39), (given, cut) => {
        const halves = [given.slice(0, cut), given.slice(cut)].filter(({ length }) => length > 0);
        const parts = halves.map(encodeBlock).flatMap((b) => decodeReports(b.frame, b.columns));
        const [merged, whole] = [encodeBlock(parts), encodeBlock(given)];
        const names = (block: typeof whole) => block.columns.map(({ name }) => name).toSorted();
        expect(names(merged)).toEqual(names(whole));
        expect(merged.frame).toEqual(whole.frame);
        expect(decodeReports(merged.frame, merged.columns)).toEqual(
          decodeReports(whole.frame, whole.columns),
        );
      }),
    );
  });

  test("has each metric's points at their places, with a summary", () => {
    const of = (n: number, metrics: JsonObject): StoredReport => {
      return { key: `0-${n}`, step: n, atMs: 10 * n, rank: 0, aggregation: "mean", metrics };
    };
    const block = encodeBlock([
      of(3, { loss: "NaN" }),
      of(1, { loss: 5, note: "x" }),
      of(2, { note: "y" }),
      of(4, { loss: "Infinity" }),
      of(5, { loss: -1 }),
    ]);
    expect(block).toMatchObject({
      reports: 5,
      firstStep: 1,
      lastStep: 5,
      firstAtMs: 10,
      lastAtMs: 50,
    });
    const loss = block.columns.find(({ name }) => name === "loss");
    expect(loss).toMatchObject({
      points: 4,
      min: -1,
      max: 5,
      first: 5,
      last: -1,
      nans: 1,
      infinities: 1,
    });
    const { positions, values } = decodeScalars(loss?.body ?? new Uint8Array());
    expect([...(positions ?? [])]).toEqual([0, 2, 3, 4]);
    expect([...values]).toEqual([5, Number.NaN, Infinity, -1]);
    expect([...decodeFrame(block.frame).steps]).toEqual([1, 2, 3, 4, 5]);
    expect(summaryOf([Number.NaN])).toMatchObject({ min: null, max: null, nans: 1 });
  });

  test("of 4,000 reports of one float32 takes less than nine bytes a point", () => {
    const many = Array.from({ length: 4_000 }, (_, n) => ({
      ...{ key: `0-${n}`, step: n * 10, atMs: 1_700_000_000_000 + n * 250 + (n % 7), rank: 0 },
      aggregation: "mean" as const,
      metrics: { loss: Math.fround(Math.exp(-n / 500) + Math.sin(n) / 10) },
    }));
    const { frame, columns } = encodeBlock(many);
    expect(frame.length + (columns[0]?.body.length ?? 0)).toBeLessThan(9 * many.length);
  });
});

test("a key that ends in a number is split there", () => {
  expect(splitKey("0-17")).toEqual({ prefix: "0", n: 17 });
  expect(splitKey("a-b-0")).toEqual({ prefix: "a-b", n: 0 });
  expect(splitKey("0-017")).toEqual({ prefix: "0-017", n: -1 });
});

test("the tail reads back as it was written", () => {
  fc.assert(
    fc.property(reports, (given) => {
      const back = readTail(tailText(given));
      expect(encodeBlock(back).frame).toEqual(encodeBlock(given).frame);
    }),
  );
});

const noKeys = decodeLedger(new Uint8Array());

describe("the ledger of keys", () => {
  test("knows the keys that were added, and no others, also when read back", () => {
    const numbers = fc.tuple(fc.nat(2), fc.nat(30)).map(([rank, n]) => `${rank}-${n}`);
    fc.assert(
      fc.property(fc.array(numbers), fc.array(numbers), (first, second) => {
        const { ledger, loose } = addKeys(addKeys(noKeys, first).ledger, second);
        expect(loose).toEqual([]);
        const back = decodeLedger(encodeLedger(ledger));
        expect(back).toEqual(ledger);
        for (let rank = 0; rank < 3; rank += 1) {
          for (let n = 0; n <= 31; n += 1) {
            const known = [...first, ...second].includes(`${rank}-${n}`);
            expect(hasKey(back, `${rank}-${n}`)).toBe(known);
          }
        }
      }),
    );
  });

  test("of numbers in a row is one range", () => {
    const keys = Array.from({ length: 100_000 }, (_, n) => `0-${n}`);
    const { ledger } = addKeys(noKeys, keys.toReversed());
    expect(ledger.get(0)).toEqual([0, 99_999]);
    expect(encodeLedger(ledger).length).toBeLessThan(10);
  });

  test("leaves keys of another form, and more pieces than it takes, to others", () => {
    const holes = Array.from({ length: 5_000 }, (_, n) => `0-${2 * n}`);
    const { ledger, loose } = addKeys(noKeys, [...holes, "x", "00-1"]);
    expect(loose.length).toBe(5_000 - 4_096 + 2);
    expect(hasKey(ledger, "0-8190")).toBe(true);
    expect(hasKey(ledger, "0-8192")).toBe(false);
    expect(rangesOf(ledger)).toBe(4_096);
  });

  test("does not change what was given", () => {
    const { ledger } = addKeys(noKeys, ["0-1"]);
    addKeys(ledger, ["0-2", "0-9"]);
    expect(ledger.get(0)).toEqual([1, 1]);
  });
});
