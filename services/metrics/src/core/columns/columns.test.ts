import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../values.ts";
import {
  decodeFrame,
  decodeReports,
  decodeScalars,
  decodeSteps,
  decodeTable,
  encodeBlock,
  summaryOf,
} from "./block.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { addKeys, decodeLedger, encodeLedger, hasKey, rangesOf } from "./key-ledger.ts";
import { readNumbers, skipNumbers, writeNumbers } from "./numbers.ts";
import { mergeParts } from "./merge.ts";
import {
  aggregations,
  inOrder,
  type StoredReport,
  splitKey,
  tableOf,
  textBytesOf,
} from "./table.ts";
import { readTail, tailBytes } from "./tail.ts";

const tailOf = (reports: readonly StoredReport[]): Uint8Array => tailBytes(tableOf(reports));

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
  test("are read back bit for bit", () => {
    fc.assert(
      fc.property(fc.array(value), (numbers) => {
        expect([...readNumbers(new ByteReader(written(numbers)))]).toEqual(numbers);
      }),
    );
  });

  test("are skipped by exactly their bytes", () => {
    const lists = fc.array(fc.oneof(fc.array(value), fc.array(fc.nat(3))), { minLength: 1 });
    fc.assert(
      fc.property(lists, (all) => {
        const to = new ByteWriter();
        for (const numbers of all) writeNumbers(to, numbers);
        const from = new ByteReader(to.done());
        for (const _ of all.slice(1)) skipNumbers(from);
        expect([...readNumbers(from)]).toEqual(all.at(-1));
      }),
    );
    expect(() => skipNumbers(new ByteReader(Uint8Array.of(1, 9)))).toThrow("newer version");
  });

  test("with equal differences or equal values take almost no room", () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => 100 + 50 * n);
    expect(written(steps).length).toBeLessThan(16);
    expect(written(steps.map(() => 0.001)).length).toBeLessThan(16);
    expect(written(steps.map((n) => Math.fround(Math.sin(n)))).length).toBeLessThan(40_010);
  });

  test("in an unknown format, or cut off, throw when they are read", () => {
    expect(() => readNumbers(new ByteReader(Uint8Array.of(1, 9)))).toThrow("newer version");
    expect(() => readNumbers(new ByteReader(written([0.1, 0.2]).slice(0, 9)))).toThrow(RangeError);
  });
});

test("any text is read back unchanged", () => {
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
// Adding 0 turns -0, which JSON does not have, into 0.
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

const plain = (one: StoredReport) => ({ ...one, metrics: { ...one.metrics } });

describe("a block", () => {
  test("decodes to the reports that it was made of, in order", () => {
    fc.assert(
      fc.property(reports, (given) => {
        const back = decodeReports(encodeBlock(given));
        expect(back.map((one) => ({ ...one, metrics: { ...one.metrics } }))).toEqual(
          given.toSorted(inOrder).map((one) => ({ ...one, metrics: { ...one.metrics } })),
        );
      }),
    );
  });

  test("merged from a block and from tails equals the block of all their reports", () => {
    const limits = { blockReportsMax: 100, blockBytesMax: 1_000_000 };
    fc.assert(
      fc.property(reports, fc.nat(39), fc.nat(39), (given, a, b) => {
        const [first, second] = [Math.min(a, b), Math.max(a, b)];
        const slices = [given.slice(0, first), given.slice(first, second), given.slice(second)];
        const parts = slices
          .filter(({ length }) => length > 0)
          .map((own, i) => {
            const encoded = i === 0 ? encodeBlock(own) : readTail(tailOf(own));
            return { table: decodeTable(encoded), bytes: 100 };
          });
        const [merged, whole] = [mergeParts(parts, limits), encodeBlock(given)];
        expect(merged.length).toBe(1);
        const byName = (block: typeof whole) =>
          block.columns.toSorted((x, y) => (x.name + x.kind < y.name + y.kind ? -1 : 1));
        const [block = whole] = merged;
        expect(byName(block)).toEqual(byName(whole));
        expect(decodeReports(block).map(plain)).toEqual(given.toSorted(inOrder).map(plain));
      }),
    );
  });

  test("is within its limits of reports and bytes, unless a single report exceeds them", () => {
    const limits = { blockReportsMax: 7, blockBytesMax: 500 };
    fc.assert(
      fc.property(fc.array(reports, { minLength: 1, maxLength: 4 }), (given) => {
        const parts = given.map((own, i) => ({
          table: decodeTable(
            readTail(tailOf(own.map((one) => ({ ...one, key: `${i}:${one.key}` })))),
          ),
          bytes: own.length * (i === 0 ? 900 : 120),
        }));
        const blocks = mergeParts(parts, limits);
        for (const { reports: count, bytes } of blocks) {
          expect(count).toBeLessThanOrEqual(7);
          expect(bytes <= 500 || count === 1).toBe(true);
        }
        const all = blocks.flatMap((block) => decodeReports(block));
        expect(all).toEqual(all.toSorted(inOrder));
        expect(all.length).toBe(given.flat().length);
      }),
    );
  });

  test("has each metric's points at their positions, with a summary", () => {
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
    expect(decodeSteps(block.frame)).toEqual(decodeFrame(block.frame).steps);
    expect(summaryOf([Number.NaN])).toMatchObject({ min: null, max: null, nans: 1 });
  });

  test("of 4,000 reports of one float32 takes less than nine bytes per point", () => {
    const many = Array.from({ length: 4_000 }, (_, n) => ({
      ...{ key: `0-${n}`, step: n * 10, atMs: 1_700_000_000_000 + n * 250 + (n % 7), rank: 0 },
      aggregation: "mean" as const,
      metrics: { loss: Math.fround(Math.exp(-n / 500) + Math.sin(n) / 10) },
    }));
    const { frame, columns } = encodeBlock(many);
    expect(frame.length + (columns[0]?.body.length ?? 0)).toBeLessThan(9 * many.length);
  });
});

test("a key that ends in a number is split before the number", () => {
  expect(splitKey("0-17")).toEqual({ prefix: "0", n: 17 });
  expect(splitKey("a-b-0")).toEqual({ prefix: "a-b", n: 0 });
  expect(splitKey("0-017")).toEqual({ prefix: "0-017", n: -1 });
});

describe("a tail", () => {
  test("is read back as it was written, in the same order", () => {
    fc.assert(
      fc.property(reports, (given) => {
        const bytes = tailOf(given);
        expect(decodeReports(readTail(bytes)).map(plain)).toEqual(given.map(plain));
      }),
    );
  });

  test("that is cut off or in an unknown format throws a RangeError", () => {
    const bytes = tailOf([
      { key: "0-1", step: 1, atMs: 1, rank: 0, aggregation: "mean", metrics: { loss: 1 } },
    ]);
    for (let end = 0; end < bytes.length; end += 1) {
      expect(() => decodeReports(readTail(bytes.subarray(0, end)))).toThrow(RangeError);
    }
    expect(() => readTail(new Uint8Array([9]))).toThrow(/newer version/);
  });

  test("is sized by its reports, even if equal values are stored in almost no room", () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({
      ...{ key: `0-${n}`, step: n, atMs: n, rank: 0, aggregation: "mean" as const },
      metrics: Object.fromEntries(Array.from({ length: 50 }, (_name, i) => [`metric_${i}`, 0])),
    }));
    const bytes = tailOf(many);
    const table = decodeTable(readTail(bytes));
    expect(bytes.length).toBeLessThan(2_000);
    expect(textBytesOf(table)).toBeGreaterThan(JSON.stringify(many).length / 2);
    const limits = { blockReportsMax: 4_096, blockBytesMax: 256 * 1024 };
    expect(mergeParts([{ table, bytes: textBytesOf(table) }], limits).length).toBeGreaterThan(3);
  });

  test("of 100 reports of ten float32 takes less than five bytes per point", () => {
    const many = Array.from({ length: 100 }, (_, n) => ({
      ...{ key: `0-${n}`, step: n * 10, atMs: 1_700_000_000_000 + n * 250 + (n % 7), rank: 0 },
      aggregation: "mean" as const,
      metrics: Object.fromEntries(
        Array.from({ length: 10 }, (_, i) => [`metric_${i}`, Math.fround(Math.sin(n * (i + 1)))]),
      ),
    }));
    expect(tailOf(many).length).toBeLessThan(5_000);
  });
});

const noKeys = decodeLedger(new Uint8Array());

describe("the ledger of keys", () => {
  test("contains the keys that were added, and no others, also after decoding", () => {
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

  test("stores consecutive numbers as one range", () => {
    const keys = Array.from({ length: 100_000 }, (_, n) => `0-${n}`);
    const { ledger } = addKeys(noKeys, keys.toReversed());
    expect(ledger.get(0)).toEqual([0, 99_999]);
    expect(encodeLedger(ledger).length).toBeLessThan(10);
  });

  test("leaves out keys without a number, and keys that would need too many ranges", () => {
    const holes = Array.from({ length: 5_000 }, (_, n) => `0-${2 * n}`);
    const { ledger, loose } = addKeys(noKeys, [...holes, "x", "00-1"]);
    expect(loose.length).toBe(5_000 - 4_096 + 2);
    expect(hasKey(ledger, "0-8190")).toBe(true);
    expect(hasKey(ledger, "0-8192")).toBe(false);
    expect(rangesOf(ledger)).toBe(4_096);
  });

  test("does not change its input", () => {
    const { ledger } = addKeys(noKeys, ["0-1"]);
    addKeys(ledger, ["0-2", "0-9"]);
    expect(ledger.get(0)).toEqual([1, 1]);
  });
});
