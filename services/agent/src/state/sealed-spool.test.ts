/** The training process may write any files into its spool, without harm to other runs. */
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
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

function runWithStored(records: Readonly<Record<string, string>>) {
  const run = newFolder();
  const stored = join(run, "spool", "stored");
  mkdirSync(stored, { recursive: true });
  mkdirSync(join(run, "spool", "checkpoints"));
  for (const [name, text] of Object.entries(records)) writeFileSync(join(stored, name), text);
  const sealed = (): readonly string[] => readdirSync(join(run, "spool", "checkpoints"));
  return { spool: new SealedSpool(run), stored, sealed };
}

test("complete checkpoints are listed with their times and without their records, up to a limit", () => {
  const { spool, stored } = runWithStored({ [`${idOf(1)}.json`]: "no record", "a.json": "{}" });
  utimesSync(join(stored, `${idOf(1)}.json`), 5, 5);
  mkdirSync(join(stored, `${idOf(2)}.json`));
  symlinkSync("/etc/passwd", join(stored, `${idOf(3)}.json`));
  expect(spool.stored()).toEqual([{ checkpoint: idOf(1), atMs: 5_000 }]);
  expect(spool.offerAgain(idOf(1))).toBeNull();
  const names = Array.from({ length: 2 * limits.spoolEntriesMax }, (_, n) => `${idOf(n)}.json`);
  const many = runWithStored(Object.fromEntries(names.map((name) => [name, ""])));
  expect(many.spool.stored()).toHaveLength(limits.spoolEntriesMax);
});

test("a complete checkpoint counts while it is offered again, and keeps its record", () => {
  const record = recordOf(idOf(1), '[{"bytes":7}]');
  const { spool, sealed } = runWithStored({ [`${idOf(1)}.json`]: record });
  expect(spool.offered()).toBeUndefined();
  expect(spool.offerAgain(idOf(1))).toMatchObject({ checkpoint: idOf(1), isStored: true });
  expect(spool.offered()).toEqual({ checkpoints: [{ checkpoint: idOf(1), step: 10, bytes: 7 }] });
  expect([spool.underWay(), sealed()]).toEqual([spool.offered(), [`${idOf(1)}.json`]]);
  spool.settle(idOf(1));
  expect([spool.offered(), sealed(), spool.stored().length]).toEqual([undefined, [], 1]);
  spool.forgetStored(idOf(1));
  expect(spool.stored()).toEqual([]);
});

test("checkpoints that the platform does not take are named and not under way", () => {
  const numbers = [1, 2];
  const spool = spoolWith(
    Object.fromEntries(numbers.map((n) => [`${idOf(n)}.json`, recordOf(idOf(n), "[]")])),
  );
  spool.abandon(idOf(1));
  expect(spool.named()?.checkpoints).toHaveLength(2);
  expect(spool.underWay()?.checkpoints).toMatchObject([{ checkpoint: idOf(2) }]);
  expect(spool.deliverable()).toMatchObject([{ checkpoint: idOf(2) }]);
  spool.isLost = true;
  expect(spool.underWay()).toBeUndefined();
  expect(spool.sealed()).toHaveLength(2);
});
