/** The training process may write any files into its spool, without harm to other runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { SealedSpool } from "./sealed-spool.ts";

afterAll(removeFolders);

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

function spoolWith(records: Readonly<Record<string, string>>): SealedSpool {
  const run = newFolder();
  const folder = join(run, "spool", "checkpoints");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(records)) writeFileSync(join(folder, name), text);
  return new SealedSpool(run);
}

const recordOf = (checkpoint: string, manifest: string) =>
  `{"checkpoint":"${checkpoint}","sealedMs":1,"stepsCompleted":10,"metadata":{},"manifest":${manifest}}`;

test.each([
  ['[{"bytes":1e999},{"bytes":-1e999}]', 0],
  ['[{"bytes":-5},{"bytes":7},{"bytes":"8"},{"bytes":null},null,{}]', 7],
  ['[{"bytes":9007199254740991},{"bytes":9007199254740991}]', 18014398509481982],
])("a manifest of %s counts as %d bytes", (manifest, bytes) => {
  const checkpoint = idOf(1);
  const spool = spoolWith({ [`${checkpoint}.json`]: recordOf(checkpoint, manifest) });
  expect(spool.named()).toEqual({ checkpoints: [{ checkpoint, step: 10, bytes }] });
});

test("a spool with very many files is read in part, and none of its checkpoints counts as incomplete", () => {
  const names = Array.from({ length: 2 * limits.spoolEntriesMax }, (_, n) => `${idOf(n)}.begun`);
  const spool = spoolWith(Object.fromEntries(names.map((name) => [name, ""])));
  expect(spool.begun()).toEqual([]);
  expect(spool.named()).toBeUndefined();
});

test("a checkpoint whose record is beyond the limit of the read does not count as incomplete", () => {
  const numbers = Array.from({ length: 2 * limits.spoolEntriesMax }, (_, n) => n);
  const whole = numbers.map((n) => [`${idOf(n)}.json`, "{}"]);
  const begun = numbers.slice(0, 100).map((n) => [`${idOf(n)}.begun`, ""]);
  const never = idOf(numbers.length);
  const spool = spoolWith(Object.fromEntries([...whole, ...begun, [`${never}.begun`, ""]]));
  expect(spool.begun()).toEqual([never]);
});

test("files that are not records of the SDK do not hide records", () => {
  const junk = Array.from({ length: 2 * limits.spoolEntriesMax }, (_, n) => [`${n}.json`, "{}"]);
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  const records = numbers.map((n) => [`${idOf(n)}.json`, recordOf(idOf(n), "[]")]);
  const spool = spoolWith(Object.fromEntries([...junk, ...records]));
  expect(spool.sealed()).toHaveLength(numbers.length);
});
