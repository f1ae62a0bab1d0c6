import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { beforeEach, describe, expect, test } from "vitest";
import type { StreamFold } from "../folds/folds.ts";
import { emptyMeta } from "../work/correlation.ts";
import { snapshotCheck } from "./verify-snapshots.ts";

type Count = { readonly paused: number; readonly seen?: boolean };

const fold: StreamFold<Count> = {
  name: "count",
  category: "experiment",
  initial: { paused: 0 },
  evolve: ({ paused, ...rest }, event) =>
    event.type === "ExperimentPaused" ? { ...rest, paused: paused + 1 } : { paused, seen: true },
  snapshot: {
    schema: "count/1",
    encode: (state) => JSON.stringify(state),
    decode: (text) => (text.startsWith("{") ? (JSON.parse(text) as Count) : null),
  },
};

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const activated: AnyEvent = { type: "ExperimentActivated", data: {} };
const never = new AbortController().signal;

let log = createMemoryLog().as("experiments");
const verify = () => snapshotCheck("counter", fold, log).run(never);

beforeEach(async () => {
  log = createMemoryLog().as("experiments");
  for (const stream of ["experiment-1", "experiment-2"]) {
    const events = [paused, activated, paused].map((event) => ({
      id: newEventId(),
      ...encodeEvent(event),
    }));
    const writes = [{ stream, expectedVersion: 0, events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
});

describe("saved states of streams", () => {
  test("are valid if they equal their folded streams, in any order of keys", async () => {
    await log.saveSnapshot("experiment-1", 2, "count/1", '{"seen":true,"paused":1}');
    expect(await verify()).toEqual({ position: 6, finding: "" });
  });

  test("are reported with the stream and both states if they differ", async () => {
    await log.saveSnapshot("experiment-2", 3, "count/1", '{"paused":3,"seen":true}');
    const { finding } = await verify();
    expect(finding).toContain("the saved state of experiment-2 at version 3");
    expect(finding).toContain(
      'is {"paused":3,"seen":true}, but a rebuild has {"seen":true,"paused":2}',
    );
  });

  test("are reported if they are ahead of their stream", async () => {
    await log.saveSnapshot("experiment-2", 9, "count/1", '{"paused":9}');
    expect((await verify()).finding).toContain("version 9, and the log has 3 events");
  });

  test("count as valid if their format is not read any more", async () => {
    await log.saveSnapshot("experiment-1", 2, "count/1", "an older format");
    expect((await verify()).finding).toBe("");
  });
});
