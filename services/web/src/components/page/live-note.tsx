import { Unplug } from "lucide-react";
import type { JSX } from "react";
import { useCall } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { useLiveStatus } from "../../data/live/topics.ts";
import { duration } from "../format.ts";
import styles from "./live-note.module.css";

/** The interval between two questions whether the scheduler answers, which no frame tells. */
const schedulerEveryMs = 15_000;

/**
 * Shows a lost connection, or that the scheduler does not answer, and the age of the data or states; nothing while both
 * work.
 */
export function LiveNote(): JSX.Element {
  const { state, heardMs, refused } = useLiveStatus();
  const isLost = state === "lost";
  const asked = { pageSize: 1, fields: ["job"] };
  const jobs = useCall("listJobs", asked, { everyMs: schedulerEveryMs });
  const answeredAtMs = isLost ? undefined : jobs.data?.schedulerAnsweredAtMs;
  return (
    <span className={styles["note"]}>
      <span role="status">
        {isLost && (
          <>
            <Unplug size={14} aria-hidden /> No connection
          </>
        )}
        {answeredAtMs !== undefined && (
          <>
            <Unplug size={14} aria-hidden /> The scheduler does not answer:
          </>
        )}
        {!isLost && refused.length > 0 && "Not all of this page is live: load it again for changes"}
      </span>
      {isLost && heardMs > 0 && <Age what="data" sinceMs={heardMs} />}
      {answeredAtMs === 0 && <span>states as of its last events</span>}
      {(answeredAtMs ?? 0) > 0 && <Age what="states" sinceMs={answeredAtMs ?? 0} />}
    </span>
  );
}

function Age(props: { readonly what: "data" | "states"; readonly sinceMs: number }): JSX.Element {
  const nowMs = useNow(1_000);
  const ago = duration(Math.max(1_000, nowMs - props.sinceMs));
  return (
    <span>
      {props.what} as of {ago} ago
    </span>
  );
}
