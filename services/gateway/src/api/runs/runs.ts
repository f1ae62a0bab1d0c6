import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { StopWhy } from "@trainyard/contracts/events";
import { parseRunId, parseTaskRunId, pause } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { FoldCache } from "@trainyard/runtime";
import type { Caller, RunCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { recordEnvironment } from "../../spaces/environments.ts";
import { stopOfAllocation, stops, taskStops } from "../../streams.ts";
import { apiLimits } from "../limits.ts";

const whyNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(StopWhy).map(([name, number]) => [number, name.toLowerCase()]),
);

/** Throws a Problem if a run's token is used for another run. */
export function requireOwnRun(caller: Caller, run: string): void {
  if (caller.kind !== "run" || caller.allocation === run) return;
  throw new Problem(
    403,
    "not_your_run",
    `this token is the run ${caller.allocation}'s, not ${run}'s`,
  );
}

/** Returns whether the trial or the task of a run has ended. */
export async function hasEnded(cache: FoldCache, run: RunCaller): Promise<boolean> {
  const loading =
    run.task === null ? cache.load(stops, run.trial) : cache.load(taskStops, run.task);
  return (await loading).state.hasEnded;
}

export function runHandlers(backend: Backend, moved: PositionSignal) {
  return {
    getSignals: async (request, context) => {
      requireOwnRun(context.caller, request.run);
      const run = signalledRun(request.run);
      if (run === null) throw new Problem(404, "run_not_found", `there is no run ${request.run}`);
      // The signals are folded from the log, not from the read model: a run receives a stop even while the read model
      // is behind or is rebuilt.
      if (context.caller.kind === "run") await backend.hear(context.caller.grantPosition);
      return waitForSignal(backend, moved, run, request.waitMs, context);
    },
    recordEnvironment: async (request, context) => {
      if (context.caller.kind !== "run") {
        throw new Problem(403, "not_your_run", "only a run tells its environment, with its token");
      }
      requireOwnRun(context.caller, request.run);
      const run = parseRunId(request.run);
      if (run === null) throw new Problem(404, "run_not_found", `there is no run ${request.run}`);
      refuseLarge(request);
      const position = await recordEnvironment(backend, run.experiment, request, context);
      return { position: String(position) };
    },
  } satisfies Partial<UnaryHandlers>;
}

function refuseLarge({ python, packages }: RequestOf<"recordEnvironment">): void {
  const { packagesMax, packageTextCharactersMax: most } = apiLimits;
  const entries = Object.entries(packages);
  const isLong = [python, ...entries.flat()].some(({ length }) => length > most);
  if (entries.length <= packagesMax && !isLong) return;
  const detail = `there may be ${packagesMax} packages, whose names and versions have at most ${most} characters`;
  throw new Problem(400, "invalid_request", detail);
}

/** A run, and the fold of its trial or task that has its stops. */
type SignalledRun = {
  readonly id: string;
  readonly run: number;
  readonly owner: string;
  readonly fold: typeof stops;
};

/** Returns null for a text that is no run's id. */
function signalledRun(id: string): SignalledRun | null {
  const ofTrial = parseRunId(id);
  if (ofTrial !== null) return { id, run: ofTrial.run, owner: ofTrial.trial, fold: stops };
  const ofTask = parseTaskRunId(id);
  return ofTask && { id, run: ofTask.run, owner: ofTask.task, fold: taskStops };
}

async function waitForSignal(
  backend: Backend,
  moved: PositionSignal,
  { id, run, owner, fold }: SignalledRun,
  waitMs: number,
  context: RequestContext,
): Promise<ReplyOf<"getSignals">> {
  const { clock, executor } = backend.parts;
  const untilMs = clock.monotonicMs() + Math.min(waitMs, apiLimits.signalsWaitMsMax);
  for (;;) {
    using changed = moved.next(`${fold.category}-${owner}`);
    using ofAllocation = moved.next(`allocation-${id}`);
    const [own, allocation] = await Promise.all([
      executor.cache.load(fold, owner),
      executor.cache.load(stopOfAllocation, id),
    ]);
    if (own.state.lastRun > run) return { stop: true, why: "superseded" };
    const why = own.state.whyOfRun[run] ?? allocation.state;
    if (why !== null) return { stop: true, why: whyNames[why] ?? "" };
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0 || context.signal.aborted) return { stop: false, why: "" };
    const change = [changed.signal, ofAllocation.signal, context.signal];
    await pause(clock, leftMs, AbortSignal.any(change));
  }
}
