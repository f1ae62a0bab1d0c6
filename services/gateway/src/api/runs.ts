import type { AnyEvent, ReplyOf, RequestOf } from "@trainyard/contracts";
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { parseRunId, pause } from "@trainyard/kernel";
import { type StreamFold } from "@trainyard/runtime";
import type { Caller } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "../shell/backend.ts";
import { recordEnvironment } from "../shell/environments.ts";
import type { PositionSignal } from "../shell/position-signal.ts";

/** The stops of a trial's runs that the experiments service requested, and the number of the trial's latest run. */
type Stops = { readonly lastRun: number; readonly whyOfRun: Readonly<Record<number, StopWhy>> };

const stops: StreamFold<Stops> = {
  name: "stops",
  category: "trial",
  initial: { lastRun: 0, whyOfRun: {} },
  evolve(state: Stops, event: AnyEvent): Stops {
    if (event.type === "RunRequested") return { ...state, lastRun: event.data.run };
    if (event.type !== "RunStopRequested" || event.data.mode === StopMode.UNSPECIFIED) return state;
    return { ...state, whyOfRun: { ...state.whyOfRun, [event.data.run]: event.data.why } };
  },
};

/** The stop of a run that the scheduler requested, for a preemption, a drain or a time limit; null for none. */
const stopOfAllocation: StreamFold<StopWhy | null> = {
  name: "allocation-stop",
  category: "allocation",
  initial: null,
  evolve: (why: StopWhy | null, event: AnyEvent): StopWhy | null =>
    event.type === "AllocationStopRequested" ? event.data.why : why,
};

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

export function runHandlers(backend: Backend, moved: PositionSignal) {
  return {
    getSignals: async (request, context) => {
      requireOwnRun(context.caller, request.run);
      const run = parseRunId(request.run);
      if (run === null) throw new Problem(404, "run_not_found", `there is no run ${request.run}`);
      // The signals are folded from the log, not from the read model: a run receives a stop even while the read model
      // is behind or is rebuilt.
      if (context.caller.kind === "run") await backend.hear(context.caller.grantPosition);
      return waitForSignal(backend, moved, { ...run, id: request.run }, request.waitMs, context);
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
  const { packagesMax, packageTextCharactersMax: most } = gatewayLimits;
  const entries = Object.entries(packages);
  const isLong = [python, ...entries.flat()].some(({ length }) => length > most);
  if (entries.length <= packagesMax && !isLong) return;
  const detail = `there may be ${packagesMax} packages, whose names and versions have at most ${most} characters`;
  throw new Problem(400, "invalid_request", detail);
}

async function waitForSignal(
  backend: Backend,
  moved: PositionSignal,
  run: { readonly id: string; readonly trial: string; readonly run: number },
  waitMs: number,
  context: RequestContext,
): Promise<ReplyOf<"getSignals">> {
  const { clock, executor } = backend.parts;
  const untilMs = clock.monotonicMs() + Math.min(waitMs, gatewayLimits.signalsWaitMsMax);
  for (;;) {
    const changes = [moved.next(`trial-${run.trial}`), moved.next(`allocation-${run.id}`)];
    const [trial, allocation] = await Promise.all([
      executor.cache.load(stops, run.trial),
      executor.cache.load(stopOfAllocation, run.id),
    ]);
    if (trial.state.lastRun > run.run) return { stop: true, why: "superseded" };
    const why = trial.state.whyOfRun[run.run] ?? allocation.state;
    if (why !== null) return { stop: true, why: whyNames[why] ?? "" };
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0 || context.signal.aborted) return { stop: false, why: "" };
    await pause(clock, leftMs, AbortSignal.any([...changes, context.signal]));
  }
}
