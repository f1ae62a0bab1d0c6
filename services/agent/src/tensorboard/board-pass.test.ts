import { lstat, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BoardWorld } from "../testing/board-world.ts";
import { BoardFolder } from "./board-folder.ts";
import { passOnce } from "./board-pass.ts";

const signal = new AbortController().signal;

function passing(world: BoardWorld, bytesMax = 1_000) {
  const folder = new BoardFolder(world.root);
  return { folder, pass: () => passOnce({ source: world, folder, bytesMax }, signal) };
}

async function copies(world: BoardWorld): Promise<Readonly<Record<string, string>>> {
  const all = await readdir(world.root, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile());
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(world.root.length + 1), await readFile(path, "utf8")] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

test("the copies are the originals, and only what changed is read", async () => {
  await using world = await BoardWorld.open();
  world.put("1.2", { "a/events.tfevents.1": "abc", "trace.json": "{}" });
  const { pass } = passing(world);
  await pass();
  expect(await copies(world)).toEqual({
    "1/1.2/a/events.tfevents.1": "abc",
    "1/1.2/trace.json": "{}",
  });
  world.reads = [];
  await pass();
  expect(world.reads).toEqual([]);
  const path = join(world.root, "1/1.2/a/events.tfevents.1");
  const { ino } = await stat(path);
  world.put("1.2", { "a/events.tfevents.1": "abcdef", "trace.json": "[]" }, 2_000);
  world.put("1.3", { "events.tfevents.2": "x" });
  await pass();
  expect(world.reads).toEqual([
    "1.2 a/events.tfevents.1 3",
    "1.2 trace.json 0",
    "1.3 events.tfevents.2 0",
  ]);
  // TensorBoard keeps the file of events open.
  expect((await stat(path)).ino).toBe(ino);
  expect(await copies(world)).toEqual({
    "1/1.2/a/events.tfevents.1": "abcdef",
    "1/1.2/trace.json": "[]",
    "1/1.3/events.tfevents.2": "x",
  });
});

test("a new agent reads from the copies what is there, and continues one that was cut off", async () => {
  await using world = await BoardWorld.open();
  world.put("1.1", { "events.tfevents": "ab", other: "cd" });
  await passing(world).pass();
  world.put("1.1", { "events.tfevents": "abcdef" }, 2_000);
  world.cutAfter = 1;
  await expect(passing(world).pass()).rejects.toThrow("the link is gone");
  world.cutAfter = null;
  world.reads = [];
  await passing(world).pass();
  expect(world.reads).toEqual(["1.1 events.tfevents 3"]);
  expect(await copies(world)).toEqual({ "1/1.1/events.tfevents": "abcdef", "1/1.1/other": "cd" });
});

test("a file that shrank is replaced, and copies of files and trials that are gone are removed", async () => {
  await using world = await BoardWorld.open();
  world.put("1.1", { "events.tfevents": "abcdef", more: "1" });
  world.put("2.1", { "events.tfevents": "z" });
  const { pass } = passing(world);
  await pass();
  world.put("1.1", { "events.tfevents": "xy" }, 2_000);
  world.originals.get("1.1")?.delete("more");
  world.originals.delete("2.1");
  await pass();
  expect(await copies(world)).toEqual({ "1/1.1/events.tfevents": "xy" });
});

test("names that lead out of the folder are left out, and all copies can be read and not written by others", async () => {
  await using world = await BoardWorld.open();
  const outside = `${world.root}-outside`;
  world.put("1.1", { "../../../x": "1", "/etc/x": "1", "a//b": "1", "a/./b": "1", "a/b": "ok" });
  world.put("1/../..", { x: "1" });
  const { pass } = passing(world);
  await pass();
  expect(await copies(world)).toEqual({ "1/1.1/a/b": "ok" });
  await expect(lstat(outside)).rejects.toThrow("ENOENT");
  for (const [path, mode] of [
    ["1", 0o755],
    ["1/1.1/a", 0o755],
    ["1/1.1/a/b", 0o644],
  ] as const) {
    expect([path, (await stat(join(world.root, path))).mode & 0o7777]).toEqual([path, mode]);
  }
});

test("files beyond the limit of bytes are left out, and the first trial of them is named", async () => {
  await using world = await BoardWorld.open();
  world.put("1.1", { "events.tfevents": "12345" });
  world.put("1.2", { "events.tfevents": "123456" });
  world.put("1.3", { "events.tfevents": "12345" });
  const { pass, folder } = passing(world, 10);
  expect(await pass()).toMatchObject({ leftOut: "1.2", withoutFiles: [] });
  expect([await folder.bytes(), Object.keys(await copies(world)).sort()]).toEqual([
    10,
    ["1/1.1/events.tfevents", "1/1.3/events.tfevents"],
  ]);
});

test("experiments without files and names that the disk cannot have are reported", async () => {
  await using world = await BoardWorld.open();
  world.put("1.1", {});
  world.put("2.1", { a: "1", "a/b": "2", c: "3" });
  const result = await passing(world).pass();
  expect(result.withoutFiles).toEqual(["1"]);
  expect(result.problems).toEqual([expect.stringContaining("2/2.1/a/b")]);
  expect(await copies(world)).toEqual({ "2/2.1/a": "1", "2/2.1/c": "3" });
});

test("after any changes and cuts, a pass that completes has made copies like the originals", async () => {
  const path = fc.constantFrom("events.tfevents.1", "b/events.tfevents.2", "trace", "b/plan");
  const trial = fc.constantFrom("1.1", "1.2", "2.1");
  const step = fc.oneof(
    fc.record({ kind: fc.constant("grow" as const), trial, path, text: fc.string() }),
    fc.record({ kind: fc.constant("replace" as const), trial, path, text: fc.string() }),
    fc.record({ kind: fc.constant("remove" as const), trial, path }),
    fc.record({ kind: fc.constant("cut" as const), after: fc.nat(9) }),
    fc.record({ kind: fc.constant("pass" as const), fresh: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      await using world = await BoardWorld.open();
      // A file of events only grows: no other one gets the name of a removed one.
      const written = new Map<string, string>();
      let { pass, folder } = passing(world, 1_000_000);
      const tried = async () => pass().catch(() => folder.forget());
      for (const [index, one] of steps.entries()) {
        const atMs = 10_000 + index;
        if (one.kind === "cut") world.cutAfter = one.after;
        else if (one.kind === "pass") {
          if (one.fresh) ({ pass, folder } = passing(world, 1_000_000));
          await tried();
        } else if (one.kind === "remove") world.originals.get(one.trial)?.delete(one.path);
        else {
          const name = `${one.trial} ${one.path}`;
          const isOfEvents = one.path.includes("tfevents");
          const isThere = world.originals.get(one.trial)?.has(one.path) === true;
          const before = isThere || isOfEvents ? (written.get(name) ?? "") : "";
          const grows = one.kind === "grow" || isOfEvents;
          const text = grows ? before + one.text : one.text;
          written.set(name, text);
          world.put(one.trial, { [one.path]: text }, atMs);
        }
      }
      world.cutAfter = null;
      await tried();
      await pass();
      const originals = [...world.originals].flatMap(([id, files]) =>
        [...files].map(([name, { text }]) => [`${id.split(".")[0]}/${id}/${name}`, text]),
      );
      expect(await copies(world)).toEqual(Object.fromEntries(originals));
    }),
    { numRuns: 60 },
  );
});

test("a copy that was cut off leaves nothing behind once its original is gone", async () => {
  await using world = await BoardWorld.open();
  world.put("1.2", { "b/plan": " " });
  const { pass, folder } = passing(world);
  world.cutAfter = 0;
  await expect(pass()).rejects.toThrow("the link is gone");
  folder.forget();
  world.originals.get("1.2")?.delete("b/plan");
  await pass();
  expect(await copies(world)).toEqual({});
});

test("a draft that an agent left is no file of a trial", async () => {
  await using world = await BoardWorld.open();
  world.put("1.1", { plan: "1" });
  const { pass } = passing(world);
  await pass();
  await writeFile(join(world.root, "1/1.1/.copy"), "half");
  const again = passing(world);
  world.put("1.1", { plan: "22" }, 2_000);
  await again.pass();
  expect(await copies(world)).toEqual({ "1/1.1/plan": "22" });
});
