import { Fault, RunEndWhy, StopWhy } from "@trainyard/contracts/events";
import { fold, isRejection } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { exit } from "../../testing/examples.ts";
import { defaultDelays } from "../../testing/small-fan-outs.ts";
import { repeatedConfig, taskConfig, taskCreated } from "../../testing/tasks.ts";
import type { TaskCommand } from "./commands.ts";
import { taskDecider } from "./decide.ts";
import type { TaskEvent, TaskState } from "./state.ts";

const run = fc.integer({ min: 1, max: 6 });
const atMs = fc.constantFrom(0, 1_000, limits.trainedMs);
const values = <Value extends number | string>(all: Readonly<Record<string, Value>>) =>
  fc.constantFrom(...Object.values(all));

const checkpoint = fc.constantFrom("c1", "c2", "c3");
const left = fc.record({
  atMs,
  sealed: fc.array(fc.record({ checkpoint, step: fc.nat(9), bytes: fc.nat() }), { maxLength: 2 }),
});

const ofKind = (...kinds: readonly string[]): fc.Arbitrary<TaskCommand> =>
  fc
    .tuple(fc.constantFrom(taskConfig, repeatedConfig), fc.constantFrom(...kinds))
    .map(([config, kind]) => ({
      kind: "create" as const,
      created: taskCreated(config, kind).data,
    }));

/** Commands for tasks that keep nothing and, if they are created otherwise, for all. */
const others: fc.Arbitrary<TaskCommand> = fc.oneof(
  fc.record({ kind: fc.constant("start_run" as const), run, allocation: fc.constant(""), atMs }),
  fc
    .record({
      run,
      atMs,
      why: values<RunEndWhy>(RunEndWhy),
      stopWhy: fc.option(values<StopWhy>(StopWhy)),
      fault: fc.option(values<Fault>(Fault)),
      code: fc.integer({ min: 0, max: 255 }),
      isAway: fc.boolean(),
      given: fc.option(left),
      unsaved: fc.option(fc.constant("the disk of a1 is full")),
    })
    .map(({ fault, code, isAway, given, unsaved, ...rest }) => ({
      ...{ kind: "end_run" as const, exits: [exit(code)], message: "", agents: ["a1"] },
      ...rest,
      delays: defaultDelays,
      ...(fault === null ? {} : { fault }),
      ...(given === null ? {} : { left: given }),
      ...(unsaved === null ? {} : { unsaved }),
      ...(isAway ? { launchFailure: { agents: [], silent: [], platformAway: true } } : {}),
    })),
  fc.record({ kind: fc.constant("kill" as const), reason: fc.string() }),
  fc.constant({ kind: "delete" } as const),
  fc.record({ kind: fc.constant("pause" as const), reason: fc.string() }),
  fc.constant({ kind: "resume" } as const),
  fc.record({
    kind: fc.constant("request_run" as const),
    from: fc.option(fc.record({ checkpoint, step: fc.nat(9) })),
    delays: fc.constant(defaultDelays),
  }),
  fc
    .record({ checkpoint, run, step: fc.nat(9), files: fc.nat(), bytes: fc.nat() })
    .map((saved) => ({ kind: "note_save" as const, saved })),
  fc.record({ kind: fc.constant("name_saves" as const), run, left }),
  fc.record({ kind: fc.constant("await_upload" as const), run, checkpoint, atMs }),
);
const command = fc.oneof(ofKind("command"), others);
const commands = fc.array(command, { maxLength: 60 });
const keptCommands = fc.array(fc.oneof(ofKind("shell", "notebook"), others), { maxLength: 60 });

/** Returns the states and events of a decider after commands in any order. */
function decideAll(all: readonly TaskCommand[]) {
  let state = taskDecider.initial;
  const events: TaskEvent[] = [];
  const states: TaskState[] = [];
  for (const one of all) {
    const decided = taskDecider.decide(state, one);
    if (isRejection(decided)) continue;
    events.push(...decided);
    state = fold(taskDecider.evolve, state, decided);
    states.push(state);
  }
  return { events, states, state };
}

describe("a task, after any sequence of commands", () => {
  test("has exactly one unended run until it has ended, and its runs are numbered from 1", () => {
    fc.assert(
      fc.property(commands, (all) => {
        const { events, states } = decideAll(all);
        for (const { status, unended } of states) expect(unended !== null).toBe(status === "open");
        const runs = events.flatMap((event) =>
          event.type === "RunRequested" ? [event.data.run] : [],
        );
        expect(runs).toEqual(runs.map((_, n) => n + 1));
      }),
    );
  });

  test("restarts at most max_restarts times, has no run after a kill, and records nothing after its end but its deletion", () => {
    fc.assert(
      fc.property(commands, (all) => {
        const { events, state } = decideAll(all);
        expect(state.tries.restarts).toBeLessThanOrEqual(state.plan.maxRestarts);
        const names = events.map(({ type }) => type);
        const [killed, ended] = [names.indexOf("TaskKillRequested"), names.indexOf("TaskEnded")];
        if (killed >= 0) expect(names.slice(killed)).not.toContain("RunRequested");
        if (ended < 0) return;
        expect(["", "TaskDeleted"]).toContain(names.slice(ended + 1).join());
      }),
    );
  });

  test("that keeps its work has at most one unended run, none unless it is open, and runs numbered from 1", () => {
    fc.assert(
      fc.property(keptCommands, (all) => {
        const { events, states } = decideAll(all);
        for (const { status, unended } of states) {
          if (unended !== null) expect(status).toBe("open");
        }
        const runs = events.flatMap((event) =>
          event.type === "RunRequested" ? [event.data.run] : [],
        );
        expect(runs).toEqual(runs.map((_, n) => n + 1));
        const names = events.map(({ type }) => type);
        expect(names.join()).not.toMatch(
          /TaskEnded,(?!TaskDeleted|TaskResumed|TaskSaved|RunCheck)/,
        );
        expect(names.join()).not.toMatch(/Task(Pause|Kill)Requested,RunRequested/);
      }),
    );
  });

  test("records nothing for a repeated command", () => {
    fc.assert(
      fc.property(fc.oneof(commands, keptCommands), command, (all, one) => {
        const { state } = decideAll([...all, one]);
        const again = taskDecider.decide(state, one);
        expect(isRejection(again) || again.length === 0).toBe(true);
      }),
    );
  });

  test("folds its events in any order", () => {
    fc.assert(
      fc.property(commands, fc.nat(), (all, at) => {
        const { events } = decideAll(all);
        const turned = [...events.slice(at % (events.length + 1)), ...events];
        expect(() => fold(taskDecider.evolve, taskDecider.initial, turned)).not.toThrow();
      }),
    );
  });
});
