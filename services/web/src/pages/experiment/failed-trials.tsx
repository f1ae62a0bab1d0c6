import { Fragment, type JSX } from "react";
import { PathLink } from "../../components/path-link.tsx";
import { useCall } from "../../data/calls.ts";
import type { TabProps } from "./tabs.ts";

/** Failed trials with a link of their own; all are in the list of trials. */
const linksMax = 3;
const filter = "state = ERROR";

/** The number of failed trials, with links to the first ones, whose pages begin with the reason. */
export function FailedTrials({ experiment }: TabProps): JSX.Element | null {
  const { id, trialsFailed } = experiment;
  const { data, isPending } = useCall(
    "listTrials",
    { experiment: id, filter, pageSize: linksMax },
    {
      enabled: trialsFailed > 0,
      watch: { kind: "trials", experiment: id, filter },
      follow: true,
      order: "oldest first",
    },
  );
  if (trialsFailed === 0) return null;
  const shown = isPending ? [] : (data?.items ?? []).slice(0, linksMax);
  return (
    <>
      , {trialsFailed} failed
      {shown.map(({ id: trial, number }, at) => (
        <Fragment key={trial}>
          {at === 0 ? ": " : ", "}
          <PathLink to={`/trials/${trial}`} aria-label={`Failed trial ${number}`}>
            {number}
          </PathLink>
        </Fragment>
      ))}
      {trialsFailed > shown.length && shown.length > 0 && (
        <>
          {" "}
          <PathLink to={`/experiments/${id}?tab=trials&filter=${encodeURIComponent(filter)}`}>
            all
          </PathLink>
        </>
      )}
    </>
  );
}
