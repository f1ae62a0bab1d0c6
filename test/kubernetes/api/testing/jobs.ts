// Ends jobs as a controller does, for tests without nodes.
import type { ObjectStore } from "../object-store.ts";

/** Each job that is created ends at once, as the condition says; returns the end of that. */
export const endJobs = (store: ObjectStore, type: "Complete" | "Failed"): (() => void) =>
  store.watch("jobs", ({ type: change, object }) => {
    if (change !== "ADDED") return;
    const at = object.metadata.creationTimestamp;
    const condition = (name: string) => ({
      type: name,
      status: "True",
      lastTransitionTime: at,
      lastProbeTime: at,
    });
    const status =
      type === "Complete"
        ? {
            startTime: at,
            completionTime: at,
            succeeded: 1,
            conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
          }
        : {
            startTime: at,
            failed: 1,
            conditions: [condition("FailureTarget"), condition("Failed")],
          };
    store.updateStatus("jobs", { ...object, status });
  });
