/** The work of the active replica while it holds its partition. */
import { agentReportSubject, allAgentReports, probeSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Report, ReportSchema } from "@trainyard/contracts/agent";
import type { StoredEvent } from "@trainyard/event-log";
import { defaultPool } from "@trainyard/experiment-config/recorded";
import { isName } from "@trainyard/kernel";
import { LogIdentity, type PartitionDeps, type Term, type TermContext } from "@trainyard/runtime";
import type { SchedulerSettings } from "../config.ts";
import type { Telemetry } from "../telemetry.ts";
import { commandTable } from "./commands.ts";
import { Guard } from "../core/reconcile/guard.ts";
import { ClusterFollower } from "./follower.ts";
import { limits } from "../limits.ts";
import { trialWork } from "../streams.ts";
import { reactionHandlers } from "./reactions.ts";
import { Reconciler } from "./reconciler.ts";
import { savedClusterCheck } from "./saved-cluster-check.ts";

const utf8 = new TextDecoder();
const reports = codecOf<Plain<Report>>(ReportSchema);

export function beginTerm(
  deps: PartitionDeps & { readonly telemetry: Telemetry },
  settings: SchedulerSettings,
): (context: TermContext) => Promise<Term> {
  // A term that ends soon does not end the wait: the next one of this process continues it.
  let firstWordUntilMs = Number.NEGATIVE_INFINITY;
  return async ({ log, executor, epoch, owner, idleMs }) => {
    const nowMs = deps.clock.monotonicMs();
    const isTakeover = idleMs !== null && Math.abs(idleMs) <= limits.leaseIdleMs;
    if (!isTakeover) firstWordUntilMs = nowMs + settings.firstWordGraceMs;
    const firstWordMs = Math.max(0, firstWordUntilMs - nowMs);
    executor.cache.follow(trialWork);
    const follower = await ClusterFollower.open(log, deps.logger);
    follower.recorded = (event, cluster) => deps.telemetry.recorded(event, cluster);
    const identity = new LogIdentity(log);
    const guard = new Guard(
      () => deps.clock.monotonicMs(),
      (what, of, error) => {
        deps.logger.error({ err: error, what, of }, "set_aside");
        deps.telemetry.setAside(what === "launch" ? "allocation" : "pool", what);
      },
    );
    const term = { follower, executor, epoch, owner, identity, firstWordMs, guard };
    const reconciler = new Reconciler({ ...deps, ...term, settings });
    return {
      reactions: {
        eventsTogetherMax: limits.eventsTogetherMax,
        handlers: reactionHandlers(follower.cluster),
        after(event) {
          if (follower.observe(event) || concerns(event)) reconciler.committed();
        },
      },
      commands: commandTable({
        ...{ follower, executor, guard },
        committed: () => reconciler.committed(),
      }),
      checks: [savedClusterCheck(log)],
      loops: [
        {
          run: async (signal) => {
            deps.telemetry.shows(follower.cluster);
            try {
              await reconcile(deps, reconciler, signal);
            } finally {
              deps.telemetry.shows(null);
            }
          },
        },
      ],
    };
  };
}

/** Runs the reconciler with what it hears on the bus. */
async function reconcile(
  { bus, logger }: PartitionDeps,
  reconciler: Reconciler,
  signal: AbortSignal,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  stack.use(
    await bus.subscribe(allAgentReports, ({ subject, body }) => {
      const report = readReport(subject, body);
      if (report !== null) reconciler.reportArrived(report);
      else logger.warn({ subject }, "report_unreadable");
    }),
  );
  stack.use(
    await bus.subscribe(probeSubject("scheduler"), ({ body }) =>
      reconciler.probeArrived(utf8.decode(body)),
    ),
  );
  stack.use(bus.onConnection((connected) => reconciler.linkChanged(connected)));
  await reconciler.run(signal);
}

/** True for a trial's events, whose reaction here has just committed events of this service. */
function concerns({ stream }: StoredEvent): boolean {
  return stream.startsWith("trial-");
}

function readReport(subject: string, body: Uint8Array): Plain<Report> | null {
  try {
    const report = reports.decode(utf8.decode(body));
    const pool = report.pool || defaultPool;
    // The server lets an agent publish only on its own subject, so the subject proves the sender.
    const genuine = isName(report.agent) && agentReportSubject(report.agent) === subject;
    return genuine && isName(pool) ? { ...report, pool } : null;
  } catch {
    return null; // The message is no report; the next one heals it.
  }
}
