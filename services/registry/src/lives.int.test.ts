/** Actions of people on complete checkpoints: they pin and verify them, and audit storages. */
import { randomUUID } from "node:crypto";
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { experimentStoredIn, TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
  // A service that has just started does not answer yet.
  await vi.waitFor(() => registry.plan(randomUUID()), { timeout: 45_000, interval: 100 });
});
afterAll(() => registry[Symbol.asyncDispose]());

const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });
/** Stores a complete checkpoint. On a slow machine its files may still be read at the first answer, so it retries. */
const stored = async (files?: Parameters<TestRegistry["stored"]>[1]) => {
  const trial = await registry.newTrial();
  const { checkpoint, manifest, ...first } = await registry.stored(trial, files);
  let { answer } = first;
  while (answer.kind === "unavailable") {
    answer = await registry.complete(checkpoint, trial, manifest);
  }
  return checkpoint;
};
const pin = (checkpoint: string, more: { condemnedOnly?: boolean; reason?: string } = {}) => {
  const { condemnedOnly = false, reason = "for the paper" } = more;
  const request = { checkpoint, reason, condemnedOnly };
  return registry.stage.ask("registry", "PinCheckpoint", request);
};
const unpin = (checkpoint: string, holder = "") =>
  registry.stage.ask("registry", "UnpinCheckpoint", { checkpoint, holder });
/** Asks until all files are read, like the command `checkpoint verify`. */
const verify = async (checkpoint: string) => {
  const ask = () => registry.stage.ask("registry", "VerifyCheckpoint", { checkpoint });
  let answer = await ask();
  while (answer.kind === "ok" && !answer.reply.done) answer = await ask();
  return answer;
};
const dayMs = 24 * 60 * 60 * 1000;
const audit = (deleteOlderThanMs?: number, root = registry.storage) =>
  registry.stage.ask("registry", "AuditStorage", {
    root,
    reason: "tidy",
    ...(deleteOlderThanMs === undefined ? {} : { deleteOlderThanMs }),
  });
const condemned: AnyEvent = {
  type: "CheckpointCondemned",
  data: {
    competitors: [],
    referencesChecked: [],
    graceEndMs: 0,
    experiment: "1",
    by: "",
    reason: "",
  },
};
const deletionStarted: AnyEvent = { type: "CheckpointDeletionStarted", data: {} };
const deleted: AnyEvent = { type: "CheckpointDeleted", data: { files: 1, bytes: 1 } };
const declaredAndComplete = ["CheckpointDeclared", "CheckpointCompleted"];

describe("a pin", () => {
  test("is recorded with the person and the reason, once, and removed", async () => {
    const checkpoint = await stored();
    expect(await pin(checkpoint)).toMatchObject({ kind: "ok" });
    expect(await pin(checkpoint)).toMatchObject({ kind: "ok" });
    const events = await registry.stage.events(`checkpoint-${checkpoint}`);
    expect(events.slice(2)).toMatchObject([
      { type: "CheckpointPinned", data: { by: "stage", holder: "", reason: "for the paper" } },
    ]);
    expect(await unpin(checkpoint)).toMatchObject({ kind: "ok" });
    expect(await unpin(checkpoint)).toMatchObject(rejectedAs("pin_not_found"));
    expect((await registry.names(checkpoint)).slice(2)).toEqual([
      "CheckpointPinned",
      "CheckpointUnpinned",
    ]);
  });

  test("is removed by the name of its holder, except a model version's pin", async () => {
    const checkpoint = await stored();
    await pin(checkpoint);
    expect(await unpin(checkpoint, "model-version:m/1")).toMatchObject(
      rejectedAs("held_by_version"),
    );
    expect(await unpin(checkpoint, "ada")).toMatchObject(rejectedAs("pin_not_found"));
    expect(await unpin(checkpoint, "stage")).toMatchObject({ kind: "ok" });
    const events = await registry.stage.events(`checkpoint-${checkpoint}`);
    expect(events.at(-1)).toMatchObject({ data: { by: "stage", holder: "stage" } });
  });

  test("of an unknown, incomplete or deleted checkpoint is refused; with `condemnedOnly` only a condemned one is pinned", async () => {
    for (const id of ["", "nonsense", "../x", randomUUID()]) {
      expect(await pin(id)).toMatchObject(rejectedAs("checkpoint_not_found"));
      expect(await unpin(id)).toMatchObject(rejectedAs("checkpoint_not_found"));
    }
    const { checkpoint: incomplete } = await registry.declare(await registry.newTrial());
    expect(await pin(incomplete)).toMatchObject(rejectedAs("checkpoint_not_complete"));
    const checkpoint = await stored();
    expect(await pin(checkpoint, { condemnedOnly: true })).toMatchObject(
      rejectedAs("not_condemned"),
    );
    await registry.stage.tell(`retention-${checkpoint}`, condemned);
    expect(await pin(checkpoint, { condemnedOnly: true })).toMatchObject({ kind: "ok" });
    await registry.stage.tell(`retention-${checkpoint}`, deletionStarted);
    expect(await pin(checkpoint, { reason: "again" })).toMatchObject(
      rejectedAs("checkpoint_deleted"),
    );
    expect(await pin(await stored(), { reason: "x".repeat(1_001) })).toMatchObject(
      rejectedAs("invalid_request"),
    );
  });
});

describe("a verification", () => {
  const files = { a: "aaaa", "deep/b": "bbbb", c: "cccc", d: "dddd" };
  const whole = () => stored(files as never);
  const at = (checkpoint: string, path: string) => join(registry.storage, checkpoint, path);

  test("of an intact checkpoint finds no damage, and records nothing", async () => {
    const checkpoint = await whole();
    expect(await verify(checkpoint)).toMatchObject({
      kind: "ok",
      reply: { done: true, files: 4, bytes: 16, problems: [], count: 0 },
    });
    expect(await registry.names(checkpoint)).toEqual(declaredAndComplete);
  });

  test("lists changed, missing and resized files, and the checkpoint is refused until it is repaired; extra files stay", async () => {
    const checkpoint = await whole();
    await writeFile(at(checkpoint, "a"), "aaab");
    await rm(at(checkpoint, "deep/b"));
    await appendFile(at(checkpoint, "c"), "c");
    await rm(at(checkpoint, "d"));
    await symlink("/etc/hostname", at(checkpoint, "d"));
    await writeFile(at(checkpoint, "new\nline"), "x");
    const answer = await verify(checkpoint);
    const kinds =
      answer.kind === "ok" && answer.reply.problems.map(({ path, kind }) => [path, kind]);
    expect(kinds).toEqual([
      ["a", "flipped"],
      ["c", "resized"],
      ["d", "not_a_file"],
      ["deep/b", "missing"],
    ]);
    const extras = { extras: ["new\nline"], extraCount: 1 };
    expect(answer).toMatchObject({ kind: "ok", reply: extras });
    await verify(checkpoint);
    expect(await registry.names(checkpoint)).toEqual([...declaredAndComplete, "CheckpointDamaged"]);
    const refused = await registry.plan(checkpoint);
    expect(refused).toMatchObject(rejectedAs("checkpoint_damaged"));
    expect(JSON.stringify(refused)).toContain('the file \\"a\\" has SHA-256');
    await rm(at(checkpoint, "d"));
    await registry.write(checkpoint, files);
    expect(await verify(checkpoint)).toMatchObject({ kind: "ok", reply: { count: 0, ...extras } });
    expect((await registry.names(checkpoint)).at(-1)).toBe("CheckpointRepaired");
    expect(await registry.plan(checkpoint)).toMatchObject({ kind: "ok" });
  });

  test("of a checkpoint on an unavailable storage reports that, and records nothing", async () => {
    const checkpoint = await whole();
    const away = `${registry.storage}-away`;
    await rename(registry.storage, away);
    expect(await verify(checkpoint)).toMatchObject({ kind: "unavailable" });
    await rename(away, registry.storage);
    expect(await registry.names(checkpoint)).toEqual(declaredAndComplete);
  });

  test("of an unknown, incomplete or deleted checkpoint is refused", async () => {
    expect(await verify("../x")).toMatchObject(rejectedAs("checkpoint_not_found"));
    expect(await verify(randomUUID())).toMatchObject(rejectedAs("checkpoint_not_found"));
    const { checkpoint } = await registry.declare(await registry.newTrial());
    expect(await verify(checkpoint)).toMatchObject(rejectedAs("checkpoint_not_complete"));
    const gone = await stored();
    await registry.stage.tell(`retention-${gone}`, deletionStarted);
    expect(await verify(gone)).toMatchObject(rejectedAs("checkpoint_deleted"));
  });
});

test("the manifest of a checkpoint goes when the checkpoint is deleted, and that of one with the same files stays", async () => {
  const files = { weights: randomUUID(), "metadata.json": "{}" };
  const [gone, same] = [await stored(files), await stored(files)];
  const rows = async (checkpoint: string) =>
    registry.stage.sql(
      `select from registry.manifest_files where checkpoint = '${checkpoint}' union all
       select from registry.gone where checkpoint = '${checkpoint}'`,
    );
  expect(await rows(gone)).toHaveLength(2);
  await registry.stage.tell(`retention-${gone}`, deletionStarted, deleted);
  await vi.waitFor(async () => expect(await rows(gone)).toEqual([]), 20_000);
  expect(await verify(same)).toMatchObject({ kind: "ok", reply: { files: 2, count: 0 } });
  expect(Object.values(await registry.stage.verify()).join("")).toBe("");
  await rm(join(registry.storage, gone), { recursive: true });
});

describe("a run's report that a checkpoint is damaged", () => {
  const report = async (checkpoint: string) => {
    const ask = () => registry.reportDamage(checkpoint, "1.1");
    let answer = await ask();
    while (answer.kind === "ok" && !answer.reply.done) answer = await ask();
    return answer;
  };

  test("is recorded once if the registry finds the damage, and the checkpoint is refused from then on", async () => {
    const checkpoint = await stored();
    await rm(join(registry.storage, checkpoint, "weights"));
    const damaged = { kind: "ok", reply: { done: true, damaged: true } };
    expect(await report(checkpoint)).toMatchObject(damaged);
    expect(await report(checkpoint)).toMatchObject(damaged);
    expect(await registry.names(checkpoint)).toEqual([...declaredAndComplete, "CheckpointDamaged"]);
    expect(await registry.plan(checkpoint)).toMatchObject(rejectedAs("checkpoint_damaged"));
  });

  test("records nothing if the registry finds the checkpoint intact", async () => {
    const checkpoint = await stored();
    const intact = { kind: "ok", reply: { done: true, damaged: false } };
    expect(await report(checkpoint)).toMatchObject(intact);
    expect(await registry.names(checkpoint)).toEqual(declaredAndComplete);
  });

  test("is answered later if the storage is unavailable, and records nothing", async () => {
    const checkpoint = await stored();
    const away = `${registry.storage}-away`;
    await rename(registry.storage, away);
    expect(await report(checkpoint)).toMatchObject({ kind: "unavailable" });
    await rename(away, registry.storage);
    expect(await registry.names(checkpoint)).toEqual(declaredAndComplete);
  });

  test("of an unknown or incomplete checkpoint, or without a detail, is refused", async () => {
    expect(await report("../x")).toMatchObject(rejectedAs("checkpoint_not_found"));
    expect(await report(randomUUID())).toMatchObject(rejectedAs("checkpoint_not_found"));
    const { checkpoint } = await registry.declare(await registry.newTrial());
    expect(await report(checkpoint)).toMatchObject(rejectedAs("checkpoint_not_complete"));
    const bare = await registry.reportDamage(await stored(), "1.1", "");
    expect(bare).toMatchObject(rejectedAs("invalid_request"));
  });
});

describe("an audit", () => {
  test("lists files unknown to the log and checkpoints missing on the storage, and deletes only old unknown files on request", async () => {
    const missing = await stored();
    await rm(join(registry.storage, missing), { recursive: true });
    const leftOver = await stored();
    await registry.stage.tell(`retention-${leftOver}`, deletionStarted, deleted);
    const [old, young] = [randomUUID(), randomUUID()];
    for (const name of [old, young]) {
      await mkdir(join(registry.storage, name, "deep"), { recursive: true });
      await writeFile(join(registry.storage, name, "deep", "x"), "x");
    }
    await mkdir(join(registry.storage, "not-a-checkpoint"), { recursive: true });
    const longAgo = new Date(Date.now() - 20 * dayMs);
    for (const path of ["deep/x", "deep", ""]) {
      await utimes(join(registry.storage, old, path), longAgo, longAgo);
    }
    const found = await audit();
    const kinds = found.kind === "ok" ? found.reply.findings : [];
    expect(kinds.map(({ name, kind }) => [name, kind]).sort()).toEqual(
      [
        [missing, "missing"],
        [leftOver, "left_over"],
        [old, "unknown"],
        [young, "unknown"],
      ].sort(),
    );
    expect(await audit(9 * dayMs - 1)).toMatchObject(rejectedAs("invalid_request"));
    expect(registry.has(old)).toBe(true);
    const cleaned = await audit(14 * dayMs);
    const gone = cleaned.kind === "ok" ? cleaned.reply.findings.filter((one) => one.deleted) : [];
    expect(gone.map(({ name }) => name)).toEqual([old]);
    expect([registry.has(old), registry.has(young), registry.has(leftOver)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test("lists files that arrive after the files of a failed checkpoint were cleared, and not before", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    const listed = async () => {
      const answer = await audit();
      const found = answer.kind === "ok" ? answer.reply.findings : [];
      return found.filter(({ name }) => name === checkpoint).map(({ kind }) => kind);
    };
    expect(await listed()).toEqual([]);
    const reason = "the disk is full";
    await registry.stage.ask("registry", "FailCheckpoint", { checkpoint, trial, run: 1, reason });
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), 90_000);
    await registry.write(checkpoint, { weights: "late" });
    await vi.waitFor(async () => expect(await listed()).toEqual(["left_over"]), 90_000);
  });

  test("never lists a folder that contains another root of checkpoints", async () => {
    const whole = await stored();
    const below = { type: "directory", container_path: join(registry.storage, whole, "more") };
    await registry.stage.tell("experiment-8", experimentStoredIn(below));
    await registry.declareIn({ trial: await registry.newTrial("8") });
    const name = randomUUID();
    const inner = join(registry.storage, name);
    await mkdir(join(inner, "deep"), { recursive: true });
    const storage = { type: "directory", container_path: join(inner, "deep") };
    await registry.stage.tell("experiment-7", experimentStoredIn(storage));
    await registry.declareIn({ trial: await registry.newTrial("7") });
    const longAgo = new Date(Date.now() - 20 * dayMs);
    for (const path of ["deep", ""]) await utimes(join(inner, path), longAgo, longAgo);
    const answer = await audit(14 * dayMs);
    expect(answer).toMatchObject({ kind: "ok" });
    const found = answer.kind === "ok" ? answer.reply.findings : [];
    expect(found.map((one) => one.name)).not.toContain(name);
    // A checkpoint that contains another root is not missing either.
    expect(found.map((one) => one.name)).not.toContain(whole);
    expect(registry.has(name, "deep")).toBe(true);
  });

  test("of a root without declared checkpoints is refused", async () => {
    expect(await audit(undefined, "/nowhere")).toMatchObject(rejectedAs("storage_not_found"));
  });
});
