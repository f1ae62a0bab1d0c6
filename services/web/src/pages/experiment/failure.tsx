import type { JSX } from "react";
import { Failure, TrialFailure } from "../../components/failure/failure.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { Reason } from "../../components/reason.tsx";
import { partsOf } from "../../components/trial-links.ts";
import { useCall } from "../../data/calls.ts";
import type { TabProps } from "./tabs.ts";

/** The reason that an experiment failed: of the trial that its reason names, else of the first that failed. */
export function ExperimentFailure({ experiment }: TabProps): JSX.Element | null {
  const { id, reason } = experiment;
  const named = partsOf(reason, id).find(({ trial }) => trial !== undefined)?.trial;
  const failed = useCall(
    "listTrials",
    { experiment: id, filter: "state = ERROR", pageSize: 1 },
    { enabled: named === undefined },
  );
  const trial = named ?? failed.data?.items[0]?.id;
  const read = useCall("getTrial", { trial: trial ?? "" }, { enabled: trial !== undefined });
  if (read.data !== undefined) return <TrialFailure trial={read.data} />;
  // A search may fail without a trial that failed.
  if (trial !== undefined || failed.isPending) return null;
  return (
    <Failure reason={<Reason text={reason} experiment={id} />}>
      <PathLink to={`/experiments/${id}?tab=logs`}>Logs of all its trials</PathLink>
    </Failure>
  );
}
