import { appendFileSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { OutputReader } from "./output-reader.ts";
import { OutputWriter, segmentName } from "./output-writer.ts";

afterAll(removeFolders);

const limits = { lines: 1_000, bytes: 400 * 1024, lineOverheadBytes: 100 };
const line = (text: string) => ({ source: 1, atMs: 5, text, continued: false }) as const;

function newRun() {
  const folder = newFolder();
  return { folder, output: join(folder, "output") };
}

function readAll(reader: OutputReader): readonly string[] {
  const texts: string[] = [];
  for (;;) {
    const batch = reader.read(limits);
    const { lines, end } = batch;
    if (lines.length === 0) return texts;
    for (const { sequence, text } of lines) {
      texts.push(text);
      expect(sequence).toBe(
        end.sequence - lines.length + 1 + lines.findIndex((one) => one.sequence === sequence),
      );
    }
    reader.acknowledge(batch);
  }
}

test("lines are read in order after the acknowledged ones, even by a new reader", () => {
  const { folder, output } = newRun();
  const writer = new OutputWriter(output, systemClock);
  writer.write([line("a"), { source: 2, atMs: 6, text: "b\n\u2028", continued: true }]);
  const reader = new OutputReader(folder);
  const first = reader.read({ ...limits, lines: 1 });
  expect(first.lines).toEqual([{ sequence: 1, ...line("a") }]);
  expect(reader.read({ ...limits, lines: 1 })).toEqual(first);
  reader.acknowledge(first);
  const { lines } = new OutputReader(folder).read(limits);
  expect(lines).toEqual([{ sequence: 2, source: 2, atMs: 6, text: "b\n\u2028", continued: true }]);
});

test("lines have the rank that their launcher wrote, even if a batch ends inside one", () => {
  const { folder, output } = newRun();
  const long = { ...line("[rank=3] a"), continued: true };
  new OutputWriter(output, systemClock).write([long, line("b"), line("c")]);
  const reader = new OutputReader(folder);
  const first = reader.read({ ...limits, lines: 1 });
  expect(first.lines).toMatchObject([{ text: "[rank=3] a", rank: 3 }]);
  expect(reader.read({ ...limits, lines: 1 })).toEqual(first);
  reader.acknowledge(first);
  const { lines } = reader.read(limits);
  expect(lines.map(({ rank }) => rank)).toEqual([3, undefined]);
});

test("numbers continue in the next writer after one that was killed during its write", () => {
  const { folder, output } = newRun();
  new OutputWriter(output, systemClock).write([line("a"), line("b")]);
  appendFileSync(join(output, segmentName(1)), '[1,5,"tor');
  const writer = new OutputWriter(output, systemClock);
  writer.write([line("c")]);
  expect(readAll(new OutputReader(folder))).toEqual(["a", "b", "c"]);
});

test("files have a bounded size, and delivered files are removed", () => {
  const { folder, output } = newRun();
  const writer = new OutputWriter(output, systemClock);
  const text = "x".repeat(16 * 1024);
  for (let n = 0; n < 40; n += 1) writer.write(Array.from({ length: 64 }, () => line(text)));
  expect(readdirSync(output).length).toBe(3);
  const reader = new OutputReader(folder);
  expect(readAll(reader)).toHaveLength(40 * 64);
  expect(readdirSync(output).length).toBe(1);
  const resumed = new OutputWriter(output, systemClock);
  resumed.write([line("last")]);
  expect(reader.read(limits).lines).toEqual([{ sequence: 40 * 64 + 1, ...line("last") }]);
});

test("undelivered output beyond a gibibyte is dropped, and a line says how much", () => {
  const { folder, output } = newRun();
  let nowMs = 0;
  const writer = new OutputWriter(output, { ...systemClock, monotonicMs: () => nowMs });
  writer.write(Array.from({ length: 1_100 }, () => line("y".repeat(16 * 1024))));
  const first = join(output, segmentName(1));
  const { size } = statSync(first);
  // The sparse file counts as written and undelivered output.
  truncateSync(first, 1024 * 1024 * 1024);
  writer.write([line("dropped"), line("dropped")]);
  truncateSync(first, size);
  writer.write([line("dropped")]);
  nowMs += 2_000;
  writer.write([line("after")]);
  const texts = readAll(new OutputReader(folder));
  expect(texts.slice(-2)).toEqual([expect.stringContaining("3 lines were not kept here"), "after"]);
  expect(texts).toHaveLength(1_102);
});
