import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AppendRequest } from "@trainyard/event-log";
import { createPostgresLog } from "@trainyard/event-log";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  abandoned,
  declared,
  runCheckpointsNamed,
  runRequested,
  validated,
} from "./testing/events.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const condemned = ["CheckpointCondemned"];
const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);

describe("when an experiment ends", () => {
  test("checkpoints that its policy gives up are condemned with the evidence, and none is deleted yet", async () => {
    await gc.start(600);
    const beforeMs = Date.now();
    const { experiment, checkpoints } = await gc.trained([0, 1, 1], [3, 1, 2, 4]);
    await gc.endExperiment(experiment);
    const [first, best, third, last] = checkpoints;
    await becomes(third, condemned);
    await becomes(first, condemned);
    const [event] = await gc.stage.events(`retention-${third}`);
    expect(event?.data).toMatchObject({
      experiment,
      policy: { saveExperimentBest: 0, saveTrialBest: 1, saveTrialLatest: 1 },
      competitors: [
        { checkpoint: best, value: 1, step: 2 },
        { checkpoint: last, value: 4, step: 4 },
      ],
    });
    expect(
      event?.type === "CheckpointCondemned" ? event.data.graceEndMs : 0,
    ).toBeGreaterThanOrEqual(beforeMs + 600_000);
    await gc.settled();
    expect(await gc.retention(best ?? "")).toEqual([]);
    expect(await gc.retention(last ?? "")).toEqual([]);
    expect(checkpoints.map((checkpoint) => gc.has(checkpoint))).toEqual([true, true, true, true]);
  });

  test("the files of condemned checkpoints, and no others, are deleted after the grace", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([1, 0, 1], [3, 1, 2, 4]);
    await gc.endExperiment(experiment);
    const [first, best, third, last] = checkpoints;
    await becomes(first, deleted);
    await becomes(third, deleted);
    const events = await gc.stage.events(`retention-${third}`);
    expect(events[2]?.data).toEqual({ files: 2, bytes: 5 });
    expect([first, best, third, last].map((one) => gc.has(one ?? ""))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  test("the only checkpoint of a trial that was never validated stays", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 1, 1], [null, null]);
    await gc.endExperiment(experiment);
    await becomes(checkpoints[0], deleted);
    expect(await gc.retention(checkpoints[1] ?? "")).toEqual([]);
  });
});

describe("while an experiment runs", () => {
  test("checkpoints that its policy gives up are condemned, but never the latest of a live trial", async () => {
    await gc.start(600);
    const experiment = await gc.experiment([0, 0, 0]);
    const trial = `${experiment}.1`;
    await gc.trial(trial);
    const first = await gc.checkpoint(trial, 1, 1);
    const second = await gc.checkpoint(trial, 2, 2);
    await becomes(first, condemned);
    expect(await gc.retention(second)).toEqual([]);
    const third = await gc.checkpoint(trial, 3, 3);
    await becomes(second, condemned);
    expect(await gc.retention(third)).toEqual([]);
  });

  test("no checkpoint is condemned if its search may start trials from earlier checkpoints", async () => {
    await gc.start(600);
    const plain = await gc.experiment([0, 0, 0]);
    const copying = await gc.experiment([0, 0, 0], { name: "pbt" });
    const stored: string[] = [];
    for (const experiment of [copying, plain]) {
      await gc.trial(`${experiment}.1`);
      for (const step of [1, 2]) stored.push(await gc.checkpoint(`${experiment}.1`, step, step));
    }
    await becomes(stored[2], condemned);
    expect(await gc.retention(stored[0] ?? "")).toEqual([]);
  });

  test("the checkpoint that its trials start from is kept, and judged once the experiment has ended", async () => {
    await gc.start(600);
    const { experiment, trial, checkpoints } = await gc.trained([0, 0, 0], [1, 2]);
    const [source = "", other] = checkpoints;
    const named = { source_trial_id: trial, source_checkpoint_uuid: source };
    const heir = await gc.experiment([0, 1, 1], named);
    await gc.endExperiment(experiment);
    await becomes(other, condemned);
    await gc.settled();
    expect(await gc.retention(source)).toEqual([]);
    await gc.endExperiment(heir);
    await becomes(source, condemned);
  });
});

describe("a checkpoint that a run's end names", () => {
  test("is waited for before anything of its trial is judged, and then competes", async () => {
    await gc.start(0);
    const late = randomUUID();
    const { experiment, trial, checkpoints } = await gc.trained([0, 1, 1], [3, 1, 2], [late]);
    const other = await gc.trained([0, 0, 0], [1]);
    await gc.endExperiment(experiment);
    await gc.endExperiment(other.experiment);
    await becomes(other.checkpoints[0], deleted);
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual([]);
    // The late checkpoint is the latest and the best of the trial.
    await gc.checkpoint(trial, 9, 0.5, late);
    for (const checkpoint of checkpoints) await becomes(checkpoint, deleted);
    expect(await gc.retention(late)).toEqual([]);
    expect(gc.has(late)).toBe(true);
  });

  test("is waited for no longer once it is abandoned", async () => {
    await gc.start(0);
    const late = randomUUID();
    const { experiment, trial, checkpoints } = await gc.trained([0, 0, 1], [1, 2], [late]);
    await gc.stage.tell(`checkpoint-${late}`, declared(trial, 9, gc.root));
    await gc.endExperiment(experiment);
    await gc.settled();
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual([]);
    await gc.stage.tell(`checkpoint-${late}`, abandoned());
    await becomes(checkpoints[0], deleted);
    expect(await gc.retention(checkpoints[1] ?? "")).toEqual([]);
  });

  test("spares what is condemned, until it is settled, if an agent names it late", async () => {
    await gc.start(2);
    const late = randomUUID();
    const { experiment, trial, checkpoints } = await gc.trained([0, 0, 1], [1, 2]);
    await gc.endExperiment(experiment);
    const [first] = checkpoints;
    await becomes(first, condemned);
    await gc.stage.tell(`trial-${trial}`, runCheckpointsNamed(1, late));
    await becomes(first, ["CheckpointCondemned", "CheckpointSpared"]);
    await gc.checkpoint(trial, 9, 3, late);
    await becomes(first, ["CheckpointCondemned", "CheckpointSpared", ...deleted]);
    expect(await gc.retention(late)).toEqual([]);
  });
});

describe("a checkpoint that is still needed", () => {
  test("by a queued run of another experiment is condemned only after that trial has ended", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1, 2]);
    const [wanted = "", other] = checkpoints;
    const next = await gc.experiment([0, 1, 1]);
    await gc.trial(`${next}.1`, wanted);
    await gc.endExperiment(experiment);
    await becomes(other, deleted);
    expect(await gc.retention(wanted)).toEqual([]);
    expect(gc.has(wanted)).toBe(true);
    await gc.endTrial(`${next}.1`);
    await becomes(wanted, deleted);
    expect(gc.has(wanted)).toBe(false);
  });

  test("is spared: a checkpoint condemned while a queued run wants it", async () => {
    await gc.start(1);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [wanted = ""] = checkpoints;
    await gc.endExperiment(experiment);
    await becomes(wanted, condemned);
    const next = await gc.experiment([0, 1, 1]);
    await gc.trial(`${next}.1`, wanted);
    await becomes(wanted, ["CheckpointCondemned", "CheckpointSpared"]);
    const events = await gc.stage.events(`retention-${wanted}`);
    expect(events[1]?.data).toEqual({ reason: `run ${next}.1#1 starts from it` });
    expect(gc.has(wanted)).toBe(true);
  });

  test("is spared when a run is requested in the very moment of the deletion", async () => {
    const { experiment, trial, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [wanted = ""] = checkpoints;
    const { TRAINYARD_POSTGRES_URL: connectionString = "" } = gc.stage.variables;
    await using log = createPostgresLog({ connectionString });
    let raced = false;
    const racing = new Proxy(log, {
      get(target, name) {
        if (name !== "append") {
          const member: unknown = Reflect.get(target, name);
          return typeof member === "function" ? member.bind(target) : member;
        }
        return async (request: AppendRequest) => {
          const events = request.writes.flatMap((write) => write.events);
          if (!raced && events.some(({ type }) => type.includes("DeletionStarted"))) {
            raced = true;
            await gc.stage.tell(`trial-${trial}`, runRequested(2, wanted, 1));
          }
          return target.append(request);
        };
      },
    });
    await gc.start(0, { log: racing });
    await gc.endExperiment(experiment);
    await vi.waitFor(() => expect(raced).toBe(true), soon);
    await becomes(wanted, ["CheckpointCondemned", "CheckpointSpared"]);
    expect(gc.has(wanted)).toBe(true);
    await gc.stop();
  });

  test("by a pin is kept until it is unpinned", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [pinned = ""] = checkpoints;
    await gc.stage.tell(`checkpoint-${pinned}`, {
      type: "CheckpointPinned",
      data: { by: "ada", holder: "", reason: "" },
    });
    await gc.endExperiment(experiment);
    await gc.settled();
    expect(await gc.retention(pinned)).toEqual([]);
    await gc.stage.tell(`checkpoint-${pinned}`, {
      type: "CheckpointUnpinned",
      data: { by: "ada", holder: "" },
    });
    await becomes(pinned, deleted);
  });

  test("for the rank by its late validation is spared", async () => {
    await gc.start(1);
    const { experiment, trial, checkpoints } = await gc.trained([0, 1, 0], [3, null, 2]);
    const [, late = "", best] = checkpoints;
    await gc.endExperiment(experiment);
    await becomes(late, condemned);
    await gc.stage.tell(`measurement-${trial}`, validated(trial, 2, 1));
    await becomes(late, ["CheckpointCondemned", "CheckpointSpared"]);
    expect(gc.has(late)).toBe(true);
    expect(gc.has(best ?? "")).toBe(true);
  });
});

describe("checkpoint-gc", () => {
  test("that was down while an experiment ended condemns its checkpoints once, when it is back", async () => {
    const { experiment, checkpoints } = await gc.trained([0, 0, 1], [1, 2, 3]);
    await gc.endExperiment(experiment);
    await gc.start(600);
    await becomes(checkpoints[0], condemned);
    await becomes(checkpoints[1], condemned);
    await gc.stop();
    await gc.start(600);
    await gc.settled();
    expect(await gc.retention(checkpoints[0] ?? "")).toEqual(condemned);
  });

  test("repeats and records a deletion that a crash left unrecorded", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [gone = ""] = checkpoints;
    await rm(join(gc.root, gone), { recursive: true });
    await gc.endExperiment(experiment);
    await becomes(gone, deleted);
    const events = await gc.stage.events(`retention-${gone}`);
    expect(events[2]?.data).toEqual({ files: 2, bytes: 5 });
  });

  test("deletes nothing, and records no deletion, while the storage is unavailable", async () => {
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1, 2]);
    const [first = "", second = ""] = checkpoints;
    await rename(gc.root, `${gc.root}.away`);
    await gc.endExperiment(experiment);
    const said: string[] = [];
    const logger = pino({}, { write: (line) => void said.push(line) });
    await gc.start(0, { logger });
    await vi.waitFor(() => expect(said.join("")).toContain("is the storage mounted here"), soon);
    expect(await gc.retention(first)).toEqual(condemned);
    await rename(`${gc.root}.away`, gc.root);
    await becomes(first, deleted);
    await becomes(second, deleted);
    expect([gc.has(first), gc.has(second)]).toEqual([false, false]);
  });

  test("that lost its tables rebuilds them, and decides nothing twice", async () => {
    await gc.start(600);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1, 2]);
    await gc.endExperiment(experiment);
    await becomes(checkpoints[1], condemned);
    await gc.settled();
    await gc.stop();
    const rows = () =>
      gc.stage.sql(
        "select checkpoint, retention from checkpoint_gc.checkpoints order by checkpoint",
      );
    const before = await rows();
    await gc.stage.sql(
      "truncate checkpoint_gc.checkpoints, checkpoint_gc.validations, checkpoint_gc.referrers, checkpoint_gc.view_cursor",
    );
    await gc.start(600);
    await vi.waitFor(async () => expect(await rows()).toEqual(before), soon);
    expect(await gc.retention(checkpoints[1] ?? "")).toEqual(condemned);
  });
});

describe("verification of the tables", () => {
  test("finds an altered row of each table, and no difference where all rows agree with the log", async () => {
    await gc.start(600);
    const { trial, checkpoints } = await gc.trained([0, 1, 1], [1, 2]);
    const next = await gc.experiment([0, 1, 1]);
    await gc.trial(`${next}.1`, checkpoints[0]);
    await gc.settled();
    const name = "checkpoint-gc.checkpoints";
    expect(await gc.stage.verify()).toEqual({ [name]: "" });
    const row = `checkpoints (checkpoint "${checkpoints[1]}")`;
    const retention = (state: string) =>
      `update checkpoint_gc.checkpoints set retention = '${state}' where checkpoint = '${checkpoints[1]}'`;
    await gc.stage.sql(retention("deleted"));
    expect((await gc.stage.verify())[name]).toBe(
      `the first row that differs is ${row}: retention is "deleted", but a rebuild has "kept"`,
    );
    await gc.stage.sql(retention("kept"));
    const scalars = (from: string, to: string) =>
      `update checkpoint_gc.validations set scalars = replace(scalars, '${from}', '${to}') where trial = '${trial}' and step = 2`;
    await gc.stage.sql(scalars(":2", ":7"));
    expect((await gc.stage.verify())[name]).toContain(`validations (trial "${trial}", step 2`);
    await gc.stage.sql(scalars(":7", ":2"));
    await gc.stage.sql(`delete from checkpoint_gc.referrers where trial = '${next}.1'`);
    expect((await gc.stage.verify())[name]).toBe(
      `the first row that differs is referrers (checkpoint "${checkpoints[0]}", trial "${next}.1"): it is missing`,
    );
    const back = `insert into checkpoint_gc.referrers values ('${checkpoints[0]}', '${next}.1')`;
    await gc.stage.sql(back);
    expect(await gc.stage.verify()).toEqual({ [name]: "" });
  });

  test("finds no difference while events are written", async () => {
    await gc.start(600);
    await gc.settled();
    let over = false;
    const writing = (async () => {
      while (!over) await gc.trained([0, 1, 1], [1, 2]);
    })();
    const found: unknown[] = [];
    try {
      while (found.length < 5) found.push(await gc.stage.verify());
    } finally {
      over = true;
      await writing;
    }
    expect(found).toEqual(Array.from({ length: 5 }, () => ({ "checkpoint-gc.checkpoints": "" })));
  });
});
