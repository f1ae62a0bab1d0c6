import type { JSX } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { experiments, type Summary } from "./outcomes.ts";
import styles from "./page.module.css";

type Props = {
  /** Null until the server has answered. */
  readonly summary: Summary | null;
  readonly error: unknown;
  readonly future: (count: number) => string;
};

const idsShown = 20;

/** The server's preview: how many experiments change, how many need no change, and why others are refused. */
export function Preview({ summary, error, future }: Props): JSX.Element {
  if (error !== null) return <ErrorNote error={error} />;
  if (summary === null) return <p role="status">Asking the server what would happen…</p>;
  const { changed, unchanged, refused } = summary;
  return (
    <div role="status">
      <ul className={styles["preview"]}>
        <li>
          <b>{future(changed.length)}</b> <Ids ids={changed} />
        </li>
        {unchanged.length > 0 && (
          <li>
            {experiments(unchanged.length)} {unchanged.length === 1 ? "needs" : "need"} no change{" "}
            <Ids ids={unchanged} />
          </li>
        )}
        {refused.map(({ detail, experiments: ids }) => (
          <li key={detail} className={styles["refused"]}>
            {experiments(ids.length)} refused: {detail} <Ids ids={ids} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Ids({ ids }: { readonly ids: readonly string[] }): JSX.Element {
  const rest = ids.length - idsShown;
  return (
    <span className="mono">
      {ids.slice(0, idsShown).join(", ")}
      {rest > 0 && ` and ${rest} more`}
    </span>
  );
}
