/** The runs that streams reach, folded from the log, so that they are known while the read model is behind. */
import type { AnyEvent } from "@trainyard/contracts";
import type { StreamFold } from "@trainyard/runtime";

/** The number of the latest run; 0 for none, and null if there is no such trial or task. */
type LatestRun = number | null;

const evolveLatestRun = (latest: LatestRun, event: AnyEvent): LatestRun =>
  event.type === "RunRequested" ? event.data.run : (latest ?? 0);

export const latestRunOfTrial: StreamFold<LatestRun> = {
  name: "latest-run-of-trial",
  category: "trial",
  initial: null,
  evolve: evolveLatestRun,
};

export const latestRunOfTask: StreamFold<LatestRun> = {
  name: "latest-run-of-task",
  category: "task",
  initial: null,
  evolve: evolveLatestRun,
};

/** The place and the state of a run. */
export type Course = {
  readonly state: "unknown" | "waits" | "starts" | "runs" | "ended";
  /** The agent of the first node; empty if the run has no place. */
  readonly agent: string;
};

export const courseOfRun: StreamFold<Course> = {
  name: "course-of-run",
  category: "allocation",
  initial: { state: "unknown", agent: "" },
  evolve(course: Course, event: AnyEvent): Course {
    if (event.type === "AllocationQueued") return { state: "waits", agent: "" };
    if (event.type === "AllocationGranted") {
      const first = event.data.placements.find(({ nodeRank }) => nodeRank === 0);
      return { state: "starts", agent: first?.agent ?? "" };
    }
    if (event.type === "AllocationStarted") return { ...course, state: "runs" };
    return event.type === "AllocationEnded" ? { ...course, state: "ended" } : course;
  },
};

/** Returns why a run has no tunnel, as a sentence. */
export function whyNotConnected(allocation: string, { state, agent }: Course): string {
  if (state === "ended") return `run ${allocation} has ended`;
  if (state === "starts") return `run ${allocation} is starting on agent ${agent}; try again`;
  if (state === "runs") {
    return `agent ${agent} of run ${allocation} is not connected to the gateway; try again`;
  }
  return `run ${allocation} waits for a place; yard job list says why`;
}
