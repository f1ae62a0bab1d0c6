import { waitOf } from "../../components/state.ts";
import { useCall } from "../../data/calls.ts";
import type { Experiment } from "./tabs.ts";

/** Trials of which one is looked for that says why it waits. */
const trialsRead = 20;

/** Returns why the runs of a queued experiment wait; empty if it is not queued, or until the scheduler has said it. */
export function useQueueReason({ id, phase }: Experiment): string {
  const { data } = useCall(
    "listTrials",
    { experiment: id, filter: "state = ACTIVE", pageSize: trialsRead },
    {
      enabled: phase === "queued",
      watch: { kind: "trials", experiment: id, filter: "state = ACTIVE" },
      follow: true,
      order: "oldest first",
    },
  );
  if (phase !== "queued") return "";
  return data?.items.map(waitOf).find((reason) => reason !== "") ?? "";
}
