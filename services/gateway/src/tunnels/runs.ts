/** Folds of the runs that streams reach (streams.ts), which are known while the read model is behind. */
import type { AnyEvent } from "@trainyard/contracts";

/** The number of the latest run; 0 for none, and null if there is no such trial or task. */
export type LatestRun = number | null;

export const evolveLatestRun = (latest: LatestRun, event: AnyEvent): LatestRun =>
  event.type === "RunRequested" ? event.data.run : (latest ?? 0);

/** The place and the state of a run. */
export type Course = {
  readonly state: "unknown" | "waits" | "starts" | "runs" | "ended";
  /** The agent of the first node; empty if the run has no place. */
  readonly agent: string;
};

export const noCourse: Course = { state: "unknown", agent: "" };

export function evolveCourse(course: Course, event: AnyEvent): Course {
  if (event.type === "AllocationQueued") return { state: "waits", agent: "" };
  if (event.type === "AllocationGranted") {
    const first = event.data.placements.find(({ nodeRank }) => nodeRank === 0);
    return { state: "starts", agent: first?.agent ?? "" };
  }
  if (event.type === "AllocationStarted") return { ...course, state: "runs" };
  return event.type === "AllocationEnded" ? { ...course, state: "ended" } : course;
}

/** Returns why a run has no tunnel, as a sentence. */
export function whyNotConnected(allocation: string, { state, agent }: Course): string {
  if (state === "ended") return `run ${allocation} has ended`;
  if (state === "starts") return `run ${allocation} is starting on agent ${agent}; try again`;
  if (state === "runs") {
    return `agent ${agent} of run ${allocation} is not connected to the gateway; try again`;
  }
  return `run ${allocation} waits for a place; yard job list says why`;
}
