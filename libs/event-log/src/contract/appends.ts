import { expect, it } from "vitest";
import type { ContractHarness } from "./harness.ts";
import { committed, everything, eventOf, newCommitId, requestOf, writeOf } from "./harness.ts";

export function appendContract(harness: ContractHarness): void {
  it("returns the position of the last event and the streams' new versions", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const first = await committed(log, [writeOf("experiment-1", 0, 2)]);
    expect(first).toEqual({
      kind: "committed",
      position: 2,
      streams: [{ stream: "experiment-1", version: 2 }],
      repeated: false,
    });
    const second = await committed(log, [writeOf("trial-1.1", 0), writeOf("experiment-1", 2, 3)]);
    expect(second.position).toBe(6);
    expect(second.streams).toEqual([
      { stream: "trial-1.1", version: 1 },
      { stream: "experiment-1", version: 5 },
    ]);
    expect(await log.head()).toBe(6);
  });

  it("stores and returns exact bodies, attributes, times and commit ids", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const event = eventOf('{ "name" : "ü \\u0000 \\"quoted\\" 🚂\\n" }');
    const meta = {
      source: "/trainyard/experiments",
      workspace: "w",
      correlationid: "c 1",
      causationid: "ü",
      authid: "u-1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    const commitId = newCommitId();
    const writes = [{ stream: "experiment-1", expectedVersion: 0, events: [event] }];
    await committed(log, writes, { meta, commitId });
    const [stored] = await log.readAll(0, 10);
    expect(stored).toEqual({
      position: 1,
      stream: "experiment-1",
      version: 1,
      ...event,
      timeMs: expect.any(Number),
      commitId,
      meta,
    });
    expect(await log.read("experiment-1", 0, 10)).toEqual([stored]);
  });

  it("keeps positions gapless and in order under concurrent writers", async () => {
    await using subject = await harness.create();
    const clients = [1, 2, 3].map(() => subject.as("ty_experiments"));
    const watcher = subject.as("ty_reader");
    let writing = true;
    const watched = (async () => {
      const seen: number[] = [];
      while (writing || seen.length < (await watcher.head())) {
        const page = await watcher.readAll(seen.length, 1_000);
        seen.push(...page.map(({ position }) => position));
      }
      return seen;
    })();
    await Promise.all(
      clients.flatMap((log, client) =>
        [1, 2, 3, 4, 5].map(async (writer) => {
          const stream = `trial-${client + 1}.${writer}`;
          for (let version = 0; version < 20; version += 2) {
            await committed(log, [writeOf(stream, version, 2)]);
          }
        }),
      ),
    );
    writing = false;
    const seen = await watched;
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  });

  it("keeps times from decreasing along positions", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let version = 0; version < 5; version += 1) {
        await committed(log, [writeOf(`trial-1.${writer + 1}`, version)]);
      }
    });
    await Promise.all(writers);
    const times = (await everything(log)).map(({ timeMs }) => timeMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("refuses a stale version, returns the current one, and writes nothing of the commit", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0, 3)]);
    const writes = [writeOf("trial-1.1", 0), writeOf("experiment-1", 2)];
    expect(await log.append(requestOf(writes))).toEqual({
      kind: "conflict",
      stream: "experiment-1",
      expectedVersion: 2,
      actualVersion: 3,
    });
    expect(await log.append(requestOf([writeOf("trial-1.9", 4)]))).toMatchObject({
      kind: "conflict",
      actualVersion: 0,
    });
    expect(await log.head()).toBe(3);
    expect(await log.read("trial-1.1", 0, 10)).toEqual([]);
  });

  it("checks a commit's guards, even on streams of another owner", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(subject.as("ty_searcher"), [writeOf("search-1", 0, 2)]);
    const guarded = (expectedVersion: number) =>
      requestOf([writeOf("trial-1.1", 0)], { guards: [{ stream: "search-1", expectedVersion }] });
    expect(await log.append(guarded(1))).toEqual({
      kind: "conflict",
      stream: "search-1",
      expectedVersion: 1,
      actualVersion: 2,
    });
    expect((await log.append(guarded(2))).kind).toBe("committed");
    const absent = requestOf([writeOf("trial-1.2", 0)], {
      guards: [{ stream: "search-2", expectedVersion: 0 }],
    });
    expect((await log.append(absent)).kind).toBe("committed");
  });

  it("detects a guard that an earlier commit of the same batch has broken", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    await committed(log, [writeOf("experiment-1", 0)]);
    const guards = [{ stream: "experiment-1", expectedVersion: 1 }];
    const results = await Promise.all([
      log.append(requestOf([writeOf("experiment-9", 0)])),
      log.append(requestOf([writeOf("trial-1.1", 0)], { guards })),
      log.append(requestOf([writeOf("experiment-1", 1)])),
      log.append(requestOf([writeOf("trial-1.2", 0)], { guards })),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual([
      "committed",
      "committed",
      "committed",
      "conflict",
    ]);
  });

  it("returns the first result for a repeated commit id, before any version is checked", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const request = requestOf([writeOf("experiment-1", 0, 2), writeOf("trial-1.1", 0)]);
    const first = await log.append(request);
    await committed(log, [writeOf("experiment-1", 2)]);
    const repeats = await Promise.all([
      log.append(request),
      log.append({ ...request, fence: { lease: "experiments/0", epoch: 99, owner: "me" } }),
      subject.as("ty_experiments").append(request),
    ]);
    for (const repeat of repeats) expect(repeat).toEqual({ ...first, repeated: true });
    expect(await log.head()).toBe(4);
  });

  it("recognises a repeat in the same batch as the first attempt", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const request = requestOf([writeOf("experiment-1", 0, 2)]);
    const results = await Promise.all([
      log.append(requestOf([writeOf("experiment-2", 0)])),
      log.append(request),
      log.append(request),
      log.append(request),
    ]);
    const [, first, second, third] = results;
    expect(first).toMatchObject({ kind: "committed", repeated: false });
    expect(second).toEqual({ ...first, repeated: true });
    expect(third).toEqual({ ...first, repeated: true });
    expect(await log.head()).toBe(3);
  });

  it("decides the commits of a batch one by one, in the order of the calls", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const results = await Promise.all([
      log.append(requestOf([writeOf("experiment-1", 0)])),
      log.append(requestOf([writeOf("experiment-2", 7)])),
      log.append(requestOf([writeOf("experiment-1", 1)])),
      log.append(requestOf([writeOf("experiment-1", 1)])),
      log.append(requestOf([writeOf("search-1", 0)])),
      log.append(requestOf([writeOf("experiment-1", 2)])),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual([
      "committed",
      "conflict",
      "committed",
      "conflict",
      "refused",
      "committed",
    ]);
    const positions = results.map((result) => (result.kind === "committed" ? result.position : 0));
    expect(positions).toEqual([1, 0, 2, 0, 0, 3]);
    expect((await everything(log)).map(({ version }) => version)).toEqual([1, 2, 3]);
  });
}
