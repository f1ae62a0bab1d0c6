import { expect, it, vi } from "vitest";
import type { ContractHarness } from "./harness.ts";
import { collect, committed, everything, writeOf } from "./harness.ts";

export function readingContract(harness: ContractHarness): void {
  it("reads a stream and the whole log in pages", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    for (let version = 0; version < 12; version += 3) {
      await committed(log, [writeOf("experiment-1", version, 3), writeOf("trial-1.1", version, 3)]);
    }
    const versions = async (after: number, limit: number) =>
      (await log.read("trial-1.1", after, limit)).map(({ version }) => version);
    expect(await versions(0, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(await versions(5, 100)).toEqual([6, 7, 8, 9, 10, 11, 12]);
    expect(await versions(12, 5)).toEqual([]);
    expect(await log.read("trial-9.9", 0, 5)).toEqual([]);
    expect(await log.read("trial-1.1", 2 ** 32, 5)).toEqual([]);
    // PostgreSQL stores U+0000 in no text, and so no stream has it in its name.
    expect([await log.read("trial-1.1\0", 0, 5), await log.lastVersion("trial-1.1\0")]).toEqual([
      [],
      0,
    ]);
    const page = await log.readAll(10, 4);
    expect(page.map(({ position }) => position)).toEqual([11, 12, 13, 14]);
    expect(await log.readAll(24, 4)).toEqual([]);
    const streams = (await everything(log)).map(({ stream }) => stream);
    expect(streams.slice(0, 7).join()).toBe(
      "experiment-1,experiment-1,experiment-1,trial-1.1,trial-1.1,trial-1.1,experiment-1",
    );
  });

  it("returns a stream's last version, from which its latest events are read backwards", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    expect(await log.lastVersion("trial-1.1")).toBe(0);
    for (let version = 0; version < 12; version += 3) {
      await committed(log, [writeOf("trial-1.1", version, 3), writeOf("trial-1.10", version, 3)]);
      expect(await log.lastVersion("trial-1.1")).toBe(version + 3);
    }
    expect(await log.lastVersion("trial-1")).toBe(0);
    const latest = await log.read("trial-1.1", 12 - 5, 5);
    expect(latest.map(({ version }) => version)).toEqual([8, 9, 10, 11, 12]);
  });

  it("reads some streams in a window of positions, and returns the last scanned position", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const some = { names: ["experiment-1"], beginnings: ["trial-1."] };
    expect(await log.readSome(some, 0, 10)).toEqual({ events: [], scannedTo: 0 });
    for (const id of ["1", "12", "2", "1"]) {
      const versionOf = async (stream: string) => (await log.read(stream, 0, 9)).length;
      await committed(log, [
        writeOf(`experiment-${id}`, await versionOf(`experiment-${id}`)),
        writeOf(`trial-${id}.7`, await versionOf(`trial-${id}.7`), 2),
      ]);
    }
    const all = await everything(log);
    const wanted = all.filter(({ stream }) => ["experiment-1", "trial-1.7"].includes(stream));
    expect(wanted.map(({ position }) => position)).toEqual([1, 2, 3, 10, 11, 12]);
    expect(await log.readSome(some, 0, 100)).toEqual({ events: wanted, scannedTo: 12 });
    expect(await log.readSome(some, 2, 9)).toEqual({ events: wanted.slice(2, 5), scannedTo: 11 });
    expect(await log.readSome(some, 3, 4)).toEqual({ events: [], scannedTo: 7 });
    expect(await log.readSome(some, 12, 5)).toEqual({ events: [], scannedTo: 12 });
  });

  it("finds the positions of some streams by name and by the beginning of their names", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const streams = ["trial-1.7", "trial-12.7", "experiment-1", "trial-1.70", "experiment-12"];
    for (const stream of streams) await committed(log, [writeOf(stream, 0, 2)]);
    await committed(log, [writeOf("trial-1.7", 2)]);
    const some = { names: ["experiment-1"], beginnings: ["trial-1."] };
    expect(await log.positionsOf(some, 0)).toEqual([1, 2, 5, 6, 7, 8, 11]);
    expect(await log.positionsOf(some, 6)).toEqual([7, 8, 11]);
    expect(await log.positionsOf({ names: ["trial-9.9"], beginnings: [] }, 0)).toEqual([]);
    const all = await everything(log);
    expect(await log.readAt([1, 7, 11, 99])).toEqual([all[0], all[6], all[10]]);
  });

  it("calls back after an append by any client, until disposed of", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const reader = subject.as("ty_reader");
    let calls = 0;
    const subscription = await reader.onAppended(() => {
      calls += 1;
    });
    for (let version = 0; version < 3; version += 1) {
      const before = calls;
      await committed(log, [writeOf("experiment-1", version)]);
      await vi.waitUntil(() => calls > before, { timeout: 900, interval: 1 });
    }
    await subscription[Symbol.asyncDispose]();
    const after = calls;
    const other = await reader.onAppended(() => {});
    await committed(log, [writeOf("experiment-1", 3)]);
    await other[Symbol.asyncDispose]();
    expect(calls).toBe(after);
  });

  it("keeps the newest snapshot of a stream, one per schema", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    expect(await log.loadSnapshot("trial-1.1", "trial/1")).toBeNull();
    await log.saveSnapshot("trial-1.1", 5, "trial/1", '{"a":1}');
    await log.saveSnapshot("trial-1.1", 9, "trial/1", '{"a":2}');
    await log.saveSnapshot("trial-1.1", 7, "trial/1", '{"a":3}');
    await log.saveSnapshot("trial-1.1", 2, "trial/2", "{}");
    const reader = subject.as("ty_reader");
    expect(await reader.loadSnapshot("trial-1.1", "trial/1")).toEqual({
      version: 9,
      body: '{"a":2}',
    });
    expect(await reader.loadSnapshot("trial-1.1", "trial/2")).toMatchObject({ version: 2 });
  });

  it("removes all snapshots of one stream only", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    for (const stream of ["trial-1.1", "trial-1.10"]) {
      for (const schema of ["trial/1", "trial/2"]) await log.saveSnapshot(stream, 5, schema, "{}");
    }
    await log.dropSnapshots("trial-1.1");
    await log.dropSnapshots("trial-7.7");
    expect(await log.loadSnapshot("trial-1.1", "trial/1")).toBeNull();
    expect(await log.loadSnapshot("trial-1.1", "trial/2")).toBeNull();
    expect(await log.loadSnapshot("trial-1.10", "trial/2")).toMatchObject({ version: 5 });
    // A version that was too old is accepted when its schema changes.
    await log.saveSnapshot("trial-1.1", 1, "trial/1", "{}");
    expect(await log.loadSnapshot("trial-1.1", "trial/1")).toMatchObject({ version: 1 });
  });
}

export function chainContract(harness: ContractHarness): void {
  const prepare = async () => {
    const subject = await harness.create();
    const log = subject.as("ty_experiments");
    // Commits alone and together, with and without a cursor: all the ways to compute a hash.
    await committed(log, [writeOf("experiment-1", 0, 3)]);
    await Promise.all(
      [1, 2, 3, 4].map((trial) => committed(log, [writeOf(`trial-1.${trial}`, 0)])),
    );
    const cursor = { consumer: "experiments", partition: 0, position: 3, part: 1 };
    await committed(log, [writeOf("experiment-1", 3), writeOf("trial-1.5", 0)], { cursor });
    await Promise.all([
      committed(log, [writeOf("trial-1.1", 1)]),
      log.append({ ...requestWithConflict() }),
      committed(log, [writeOf("trial-1.2", 1)]),
    ]);
    return { subject, log, head: await log.head() };
  };
  const requestWithConflict = () => ({
    commitId: "018f0000-0000-7000-8000-000000000000",
    writes: [writeOf("trial-1.1", 9)],
    guards: [],
    meta: {
      source: "",
      workspace: "",
      correlationid: "",
      causationid: "",
      authid: "",
      traceparent: "",
    },
  });

  it("finds no defect in an intact log, from the start and from any position", async () => {
    const { subject, log, head } = await prepare();
    await using _ = subject;
    const seen: number[] = [];
    expect(await collect(log.verify(0, (position) => seen.push(position)))).toEqual([]);
    expect(seen.at(-1)).toBe(head);
    for (let from = 1; from <= head; from += 1) {
      expect(await collect(log.verify(from))).toEqual([]);
    }
  });

  it("detects lost last events by an earlier anchor", async () => {
    const { subject, log, head } = await prepare();
    await using _ = subject;
    const empty = { position: 0, hash: "0".repeat(64) };
    const early = await log.anchor();
    expect(early).toEqual({ position: head, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await committed(log, [writeOf("experiment-9", 0, 4)]);
    const late = await log.anchor();
    expect(late.position).toBe(head + 4);
    for (const anchor of [empty, early, late]) expect(await log.checkAnchor(anchor)).toBeNull();
    await subject.tamper.cut(head + 1);
    // The chain alone does not show the loss: the rest of the chain is valid.
    expect(await collect(log.verify(0))).toEqual([]);
    expect(await log.checkAnchor(early)).toBeNull();
    const finding = await log.checkAnchor(late);
    expect(finding?.position).toBe(head);
    expect(finding?.detail).toContain(`the log ends at ${head}: 4 events`);
  });

  it("detects by an anchor that another commit has replaced the anchored one", async () => {
    const { subject, log, head } = await prepare();
    await using _ = subject;
    await committed(log, [writeOf("experiment-9", 0, 2)]);
    const anchor = await log.anchor();
    const { hash } = anchor;
    const other = {
      position: head + 2,
      hash: `${hash.startsWith("0") ? "1" : "0"}${hash.slice(1)}`,
    };
    expect((await log.checkAnchor(other))?.detail).toContain("differs from the anchor's");
    // No commit ends at this position.
    const within = { position: head + 1, hash };
    expect((await log.checkAnchor(within))?.detail).toContain("differs from the anchor's");
    expect(await log.checkAnchor({ position: 0, hash })).not.toBeNull();
  });

  it("returns how far the log's time is ahead of the clock", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    expect(await log.timeAheadMs()).toBe(0);
    await committed(log, [writeOf("experiment-1", 0)]);
    expect(await log.timeAheadMs()).toBe(0);
    await subject.tamper.shiftHeadTime(3_600_000);
    const ahead = await log.timeAheadMs();
    expect(ahead).toBeGreaterThan(3_500_000);
    expect(ahead).toBeLessThanOrEqual(3_600_000);
  });

  const damages = {
    "an edited body": { at: 5, damage: "editBody" },
    "edited attributes": { at: 4, damage: "editMeta" },
    "a removed event": { at: 2, damage: "removeEvent" },
    "a removed commit": { at: 4, damage: "removeCommit" },
    "exchanged events": { at: 4, damage: "exchange" },
  } as const;
  for (const [what, { at, damage }] of Object.entries(damages)) {
    it(`finds ${what}`, async () => {
      const { subject, log } = await prepare();
      await using _ = subject;
      if (damage === "editBody") await subject.tamper.editBody(at, '{"n":2}');
      else if (damage === "editMeta") await subject.tamper.editMeta(at, "somebody-else");
      else if (damage === "exchange") await subject.tamper.exchange(at, at + 1);
      else await subject.tamper[damage](at);
      const findings = await collect(log.verify(0));
      expect(findings.length).toBeGreaterThan(0);
      expect(findings.length).toBeLessThan(4);
      expect(findings[0]?.position).toBeGreaterThanOrEqual(at);
      expect(findings[0]?.position).toBeLessThanOrEqual(at + 1);
    });
  }
}
