import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { DiffText } from "./code-text.tsx";
import { EmptyState } from "./empty-state.tsx";
import { ErrorNote } from "./error-note.tsx";
import { PlainTable } from "./plain-table.tsx";
import { LoadingText } from "./skeleton.tsx";
import { useCall } from "../data/calls.ts";
import styles from "./difference.module.css";

/** The differences between two experiments: keys, then texts, then files of the code. */
export function Difference(props: {
  readonly first: string;
  readonly second: string;
}): JSX.Element {
  const { first, second } = props;
  const diff = useCall("diffExperiments", { experiment: first, other: second });
  if (diff.error !== null) return <ErrorNote error={diff.error} />;
  if (diff.data === undefined) return <LoadingText label="the difference" />;
  const { config, configText, files, leftOut } = diff.data;
  if (config.length === 0 && files.length === 0) {
    return <EmptyState title={`Experiments ${first} and ${second} are equal.`} />;
  }
  return (
    <>
      <Keys first={first} second={second} config={config} />
      {configText !== "" && (
        <details className={styles["details"]}>
          <summary>The configurations as texts</summary>
          <DiffText label="Difference of the configurations" text={configText} />
        </details>
      )}
      <h2>Code</h2>
      {files.length === 0 && <p className={styles["muted"]}>The code is equal.</p>}
      {leftOut !== "" && <p className={styles["muted"]}>{leftOut}</p>}
      {files.map(({ path, change, text }) => (
        <details key={path} className={styles["details"]} open={text !== "" && files.length === 1}>
          <summary>
            {path} <span className={styles["muted"]}>{change}</span>
          </summary>
          {text !== "" && <DiffText label={`Difference of ${path}`} text={text} />}
        </details>
      ))}
    </>
  );
}

type KeysProps = {
  readonly first: string;
  readonly second: string;
  readonly config: ReplyOf<"diffExperiments">["config"];
};

function Keys({ first, second, config }: KeysProps): JSX.Element {
  if (config.length === 0) return <p className={styles["muted"]}>The configurations are equal.</p>;
  return (
    <PlainTable
      caption="Keys of the configuration that differ"
      rows={config}
      keyOf={({ path }) => path}
      columns={[
        { title: "Key", cell: ({ path }) => <code className={styles["key"]}>{path}</code> },
        { title: `Experiment ${first}`, cell: ({ before }) => <code>{before ?? "–"}</code> },
        { title: `Experiment ${second}`, cell: ({ after }) => <code>{after ?? "–"}</code> },
      ]}
    />
  );
}
