/** The experiments of a comparison that are followed live: those that run, within the topics of one stream. */
import { limits } from "../../data/live/protocol.ts";
import type { ComparedExperiment } from "./comparison.ts";

/** Some topics are left to the page itself, and to other tabs of the browser. */
const followedMax = limits.topicsMax - 8;

const ended: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "ERROR"]);

export type Followed = { readonly followed: readonly string[]; readonly others: readonly string[] };

export function followedOf(
  experiments: readonly Pick<ComparedExperiment, "id" | "state">[],
  max = followedMax,
): Followed {
  const running = experiments.filter(({ state }) => !ended.has(state)).map(({ id }) => id);
  return { followed: running.slice(0, max), others: running.slice(max) };
}
