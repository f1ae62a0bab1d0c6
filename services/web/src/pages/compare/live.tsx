import type { JSX } from "react";
import { counted } from "../../components/format.ts";
import { usePoints } from "../../data/live/points.ts";
import type { ComparedExperiment } from "./comparison.ts";
import { followedOf } from "./followed.ts";
import styles from "./compare.module.css";

/** Follows the series, and names the experiments whose series are not followed. */
export function LiveSeriesOf(props: {
  readonly experiments: readonly ComparedExperiment[];
}): JSX.Element | null {
  const { followed, others } = followedOf(props.experiments);
  return (
    <>
      {followed.map((id) => (
        <Followed key={id} experiment={id} />
      ))}
      {others.length > 0 && (
        <p className={styles["note"]} role="status">
          The curves of {counted(others.length, "running experiment")} are not live (
          {shortList(others)}): load the page again for their new points, or compare fewer.
        </p>
      )}
    </>
  );
}

function Followed({ experiment }: { readonly experiment: string }): null {
  usePoints(experiment, true);
  return null;
}

function shortList(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).join(", ");
  return ids.length > 5 ? `${shown} and ${ids.length - 5} more` : shown;
}
