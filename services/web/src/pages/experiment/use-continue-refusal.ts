import { useEffect } from "react";
import { shownError } from "../../components/problem.ts";
import { useCall } from "../../data/calls.ts";
import type { Experiment } from "./tabs.ts";

/** Refusals that another number of trials or another length lifts, which the dialog asks for. */
const liftedByDialog = "nothing_to_continue";

/** Returns the server's reason why the experiment cannot be continued now; empty if it can, or until it is known. */
export function useContinueRefusal({ id, state, archived }: Experiment): string {
  const request = { experiments: [id], verb: "continue", dryRun: true };
  const { data, refetch } = useCall("actOnExperiments", request, { fresh: true });
  const isKnown = data !== undefined;
  useEffect(() => {
    if (isKnown) void refetch();
    // oxlint-disable-next-line react/exhaustive-deps — the first answer is of the first state; each later one is asked for
  }, [state, archived]);
  const item = data?.items[0];
  if (item?.outcome !== "refused" || item.code === liftedByDialog) return "";
  return shownError(new Error(item.detail)).what;
}
