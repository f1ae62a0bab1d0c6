/** What the scheduler is told of a run, from the records in its folder. */
import type { Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  AllocationReportState,
  type Launch,
} from "@trainyard/contracts/agent";
import type { EndRecord, Exit } from "@trainyard/contracts/events";
import type { ExitRecord, KillRecord } from "./records.ts";

export type RunView = {
  readonly launch: Plain<Launch>;
  readonly state: AllocationReportState;
  readonly pid: number;
  readonly kill: KillRecord | null;
  readonly exit: ExitRecord | null;
  readonly endRecord: Plain<EndRecord> | null;
};

export function reportOf(agent: string, view: RunView): Plain<AllocationReport> {
  const { launch, state, pid, exit } = view;
  const common = {
    allocation: launch.allocation,
    state,
    nodeRank: launch.nodeRank,
    slots: launch.slots,
    pid,
    launchFailed: false,
    killed: false,
  };
  if (state !== AllocationReportState.ENDED || exit === null) return common;
  return {
    ...common,
    exit: exitOf(agent, launch.nodeRank, exit, view.kill),
    ...(view.endRecord === null ? {} : { endRecord: view.endRecord }),
    launchFailed: exit.kind === "not_launched",
    killed: wasKilled(exit, view.kill),
  };
}

/** Whether it ended because the scheduler wanted that. A process that had left by itself had. */
function wasKilled(exit: ExitRecord, kill: KillRecord | null): boolean {
  return kill?.why === "wanted" && (exit.kind !== "exited" || exit.signal === "SIGKILL");
}

/**
 * No code and no signal says that nobody knows how it would have ended: its supervisor or its host was lost, or the host
 * was shut down around it. The scheduler takes it for a lost run, which goes on elsewhere and counts against nobody.
 */
function exitOf(
  agent: string,
  nodeRank: number,
  exit: ExitRecord,
  kill: KillRecord | null,
): Plain<Exit> {
  const shutDown = kill?.why === "shutdown" && exit.code !== 0;
  if (shutDown) {
    return { nodeRank, agent, signal: "", message: "the agent was shut down with its runs" };
  }
  return {
    nodeRank,
    agent,
    ...(exit.code === null ? {} : { code: exit.code }),
    signal: exit.signal ?? "",
    message: exit.message,
  };
}
