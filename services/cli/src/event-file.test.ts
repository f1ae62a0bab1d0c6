import { expect, test } from "vitest";
import { csvLine } from "./csv.ts";
import { crc32c, eventFile } from "./event-file.ts";

test("the checksum is CRC-32C: that of 32 zeros is the one of RFC 3720", () => {
  expect(crc32c(new Uint8Array(32)).toString(16)).toBe("8a9136aa");
  expect(crc32c(Buffer.from("123456789")).toString(16)).toBe("e3069283");
});

test("an event file has a record of the version and one record per point", () => {
  const file = eventFile([
    { atMs: 1_500, step: 300, scalars: { "training/loss": 0.5 } },
    { atMs: 2_500, step: 2 ** 40, scalars: { "training/loss": Number.NaN, b: 1 } },
  ]);
  const records: Buffer[] = [];
  for (let at = 0; at < file.length; ) {
    const length = Number(file.readBigUInt64LE(at));
    records.push(file.subarray(at + 12, at + 12 + length));
    at += length + 16;
  }
  expect(records.length).toBe(3);
  expect(records[0]?.subarray(9).toString("latin1")).toBe("\u001a\rbrain.Event:2");
  const seconds = Buffer.alloc(8);
  seconds.writeDoubleLE(1.5);
  const half = [0x15, 0, 0, 0, 0x3f];
  const value = [0x0a, 13, ...Buffer.from("training/loss"), ...half];
  const summary = [0x0a, value.length, ...value];
  expect([...(records[1] ?? [])]).toEqual([
    ...[0x09, ...seconds, 0x10, 0xac, 0x02, 0x2a, summary.length],
    ...summary,
  ]);
});

test("a CSV cell with a comma, a quote or a line end is quoted", () => {
  expect(csvLine(["a", 'say "x"', "1,2", "b\nc"])).toBe('a,"say ""x""","1,2","b\nc"');
});

test("no cell is a formula to a spreadsheet, and numbers stay numbers", () => {
  const cells = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "-1.5",
    "+3",
    "-1e-7",
    "-Infinity",
    "a=b",
  ];
  expect(csvLine(cells)).toBe(
    "'=1+1,'+cmd|' /C calc'!A0,'-2+3,'@SUM(A1),'\t=1,-1.5,+3,-1e-7,-Infinity,a=b",
  );
});
