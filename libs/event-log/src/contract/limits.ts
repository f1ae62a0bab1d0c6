import { expect, it } from "vitest";
import { logLimits } from "../limits.ts";
import type { ContractHarness } from "./harness.ts";
import { committed, eventOf, noMeta, requestOf, writeOf } from "./harness.ts";

export function limitContract(harness: ContractHarness): void {
  const cases = {
    body_too_large: requestOf([
      {
        stream: "experiment-1",
        expectedVersion: 0,
        events: [eventOf(JSON.stringify("ü".repeat(logLimits.bodyBytesMax / 2)))],
      },
    ]),
    too_many_writes: requestOf(
      Array.from({ length: 257 }, (_, index) => writeOf(`trial-1.${index + 1}`, 0)),
    ),
    duplicate_stream: requestOf([writeOf("experiment-1", 0), writeOf("experiment-1", 1)]),
    empty: requestOf([]),
  };
  for (const [code, request] of Object.entries(cases)) {
    it(`refuses with ${code}`, async () => {
      await using subject = await harness.create();
      const log = subject.as("ty_experiments");
      expect(await log.append(request)).toMatchObject({ kind: "refused", code });
      expect(await log.head()).toBe(0);
    });
  }

  const invalid = {
    "a commit id that is no UUID": requestOf([writeOf("experiment-1", 0)], { commitId: "1" }),
    "a stream without a category": requestOf([writeOf("experiment", 0)]),
    "a write without events": requestOf([writeOf("experiment-1", 0, 0)]),
    "a version that is none": requestOf([writeOf("experiment-1", -1)]),
    "a body with a NUL": requestOf([
      { stream: "experiment-1", expectedVersion: 0, events: [eventOf("\0")] },
    ]),
    "an attribute that is half a character": requestOf([writeOf("experiment-1", 0)], {
      meta: { ...noMeta, workspace: "\ud83d" },
    }),
    "a cursor beyond the head": requestOf([writeOf("experiment-1", 0)], {
      cursor: { consumer: "experiments", partition: 0, position: 1, part: 0 },
    }),
  };
  for (const [what, request] of Object.entries(invalid)) {
    it(`refuses ${what} as invalid`, async () => {
      await using subject = await harness.create();
      const log = subject.as("ty_experiments");
      expect(await log.append(request)).toMatchObject({ kind: "refused", code: "invalid" });
      expect(await log.head()).toBe(0);
    });
  }

  it("accepts a request exactly at the limits", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const body = JSON.stringify("x".repeat(logLimits.bodyBytesMax - 2));
    const large = { stream: "experiment-1", expectedVersion: 0, events: [eventOf(body)] };
    await committed(log, [large]);
    const many = Array.from({ length: 256 }, (_, index) => writeOf(`trial-1.${index + 1}`, 0));
    expect((await committed(log, many)).position).toBe(257);
    expect((await log.readAll(0, 1))[0]?.body).toBe(body);
  });

  it("lets a role append only to its categories and move only its cursors", async () => {
    await using subject = await harness.create();
    const searcher = subject.as("ty_searcher");
    await committed(searcher, [writeOf("search-1", 0)]);
    const foreign = requestOf([writeOf("search-2", 0), writeOf("trial-1.1", 0)]);
    expect(await searcher.append(foreign)).toMatchObject({ kind: "refused", code: "not_owner" });
    const cursor = { consumer: "experiments", partition: 0, position: 1, part: 0 };
    expect(await searcher.append(requestOf([], { cursor }))).toMatchObject({
      kind: "refused",
      code: "not_owner",
    });
    expect(await searcher.append(requestOf([writeOf("search-1", 1)], { cursor }))).toMatchObject({
      kind: "refused",
      code: "not_owner",
    });
    await expect(searcher.moveCursor(cursor)).rejects.toMatchObject({ code: "not_owner" });
    await expect(searcher.acquireLease("experiments/0", "me", 1_000)).rejects.toMatchObject({
      code: "not_permitted",
    });
    await expect(searcher.saveSnapshot("trial-1.1", 1, "s", "{}")).rejects.toMatchObject({
      code: "not_permitted",
    });
    await expect(searcher.dropSnapshots("trial-1.1")).rejects.toMatchObject({
      code: "not_permitted",
    });
    const reader = subject.as("ty_reader");
    expect(await reader.append(requestOf([writeOf("search-1", 1)]))).toMatchObject({
      kind: "refused",
      code: "not_owner",
    });
    expect((await reader.readAll(0, 10)).length).toBe(1);
  });
}
