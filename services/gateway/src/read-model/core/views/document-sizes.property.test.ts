/** The documents that events rewrite have a bound in bytes in any history, beside the texts of people. */
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
} from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

const boundBytes = 64 * 1024;

const message = "m".repeat(2_000);

type Streamed = readonly [stream: string, event: AnyEvent];

/** A run that is queued, placed, trains, validates and ends. */
function lifeOf(run: number, names: number, superseded: boolean): readonly Streamed[] {
  const id = `1.1#${run}`;
  const resources = { pool: "default", slots: 1, priority: 42, weight: 1 };
  const scalars = Object.fromEntries([
    ["loss", 1 / run],
    ...Array.from({ length: names }, (_, index) => [`layer ${index}`, Math.PI * index] as const),
  ]);
  const validation = {
    ...{ trial: "1.1", run, step: run, reportKey: `v${run}`, nonNumeric: [] },
    scalars,
  };
  return [
    ["trial-1.1", requested(run, 0)],
    [
      `allocation-${id}`,
      {
        type: "AllocationQueued",
        data: { task: "1.1", run, job: "1", resources, workspace: "w", owner: "o" } as never,
      },
    ],
    ["trial-1.1", { type: "RunStarted", data: { run, allocation: id } }],
    ["measurement-1.1", { type: "ValidationReported", data: validation }],
    ...(superseded
      ? ([["measurement-1.1", superseding(run)]] as readonly Streamed[])
      : ([] as readonly Streamed[])),
    [
      "trial-1.1",
      {
        type: "RunEnded",
        data: { run, why: RunEndWhy.FAILED, message, countsAsRestart: false } as never,
      },
    ],
  ];
}

const superseding = (run: number): AnyEvent => ({
  type: "MeasurementsSuperseded",
  data: { run, afterStep: Math.max(0, run - 3) } as never,
});

test("the documents of trials and jobs have a bound in bytes in any history", () => {
  const runs = fc.array(
    fc.record({ names: fc.constantFrom(0, 5, 4_000), superseded: fc.boolean() }),
    { minLength: 1, maxLength: 120 },
  );
  fc.assert(
    fc.property(runs, (lives) => {
      const documents = new DocumentSet();
      const events: readonly Streamed[] = [
        ["experiment-1", created({})],
        ["search-1", searchStarted()],
        ["trial-1.1", trialCreated(1)],
        ...lives.flatMap(({ names, superseded }, at) => lifeOf(at + 1, names, superseded)),
      ];
      for (const [index, [stream, event]] of events.entries()) {
        project({ stream, timeMs: index, position: index + 1 }, event, documents);
      }
      for (const { kind, doc } of documents.rows()) {
        if (kind === "validation") continue;
        expect(JSON.stringify(doc).length, kind).toBeLessThan(boundBytes);
      }
      expect(documents.rows().filter(({ kind }) => kind === "validation").length).toBeLessThan(40);
      expect(documents.get("job", "1")).toMatchObject({ runsWaiting: lives.length });
      expect(documents.get("trial", "1.1")?.runs.at(-1)?.number).toBe(lives.length);
    }),
    { numRuns: 20 },
  );
});
