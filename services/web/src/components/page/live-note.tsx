import { Unplug } from "lucide-react";
import type { JSX } from "react";
import { useNow } from "../../data/clock.ts";
import { useLiveStatus } from "../../data/live/topics.ts";
import { duration } from "../format.ts";
import styles from "./live-note.module.css";

/** Shows a lost connection and the age of the data; nothing while the connection works. */
export function LiveNote(): JSX.Element {
  const { state, heardMs, refused } = useLiveStatus();
  const isLost = state === "lost";
  return (
    <span className={styles["note"]}>
      <span role="status">
        {isLost && (
          <>
            <Unplug size={14} aria-hidden /> No connection
          </>
        )}
        {!isLost && refused.length > 0 && "Not all of this page is live: load it again for changes"}
      </span>
      {isLost && heardMs > 0 && <Age sinceMs={heardMs} />}
    </span>
  );
}

function Age({ sinceMs }: { readonly sinceMs: number }): JSX.Element {
  const nowMs = useNow(1_000);
  return <span>data of {duration(Math.max(1_000, nowMs - sinceMs))} ago</span>;
}
