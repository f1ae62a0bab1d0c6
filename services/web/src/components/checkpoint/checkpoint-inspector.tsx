import type { ReplyOf } from "@trainyard/contracts";
import { holderText } from "@trainyard/kernel";
import type { JSX } from "react";
import { useCall } from "../../data/calls.ts";
import { EmptyState } from "../empty-state.tsx";
import { ErrorNote } from "../error-note.tsx";
import { bytes, count } from "../format.ts";
import { FactList, Inspector } from "../inspector.tsx";
import { shownPairs } from "../nested.ts";
import { PlainTable } from "../plain-table.tsx";
import { checkpointState } from "../state.ts";
import { StateBadge } from "../state-badge.tsx";
import styles from "./checkpoint.module.css";
import { CheckpointVerbs } from "./checkpoint-verbs.tsx";
import { unlistedText } from "./unlisted.ts";
import { verdictText } from "./verdict.ts";

type Props = { readonly checkpoint: string; readonly onClose: () => void };

const filesShownMax = 500;

/** The details of a checkpoint: its files, the rules that keep or condemn it, and its actions. */
export function CheckpointInspector({ checkpoint, onClose }: Props): JSX.Element {
  return (
    <Inspector title={`Checkpoint ${checkpoint.slice(0, 8)}`} onClose={onClose}>
      <Shown key={checkpoint} checkpoint={checkpoint} />
    </Inspector>
  );
}

function Shown({ checkpoint }: { readonly checkpoint: string }): JSX.Element {
  const read = useCall("getCheckpoint", { checkpoint });
  const verdict = useCall("explainCheckpoint", { checkpoint });
  if (read.error !== null) return <ErrorNote error={read.error} />;
  if (read.data === undefined) return <p className={styles["muted"]}>Reading …</p>;
  const { uuid, state, reason, pins, metadata } = read.data;
  return (
    <>
      <FactList
        facts={[
          ["Id", <code key="id">{uuid}</code>],
          ["State", <StateBadge key="state" state={checkpointState({ state })} title={reason} />],
          ["Reason", reason],
          ["Size", `${bytes(read.data.bytes)} in ${count(read.data.files)} files`],
          [
            "Held by",
            pins
              .map(
                ({ holder, reason: why }) =>
                  `${holderText(holder)}${why === "" ? "" : ` (${why})`}`,
              )
              .join(", "),
          ],
          ["Retention", verdictText(verdict.data)],
          ...shownPairs(metadata),
        ]}
      />
      <CheckpointVerbs checkpoint={read.data} />
      <Files checkpoint={read.data} />
    </>
  );
}

type FilesProps = { readonly checkpoint: ReplyOf<"getCheckpoint"> };

function Files({ checkpoint }: FilesProps): JSX.Element {
  const { manifest } = checkpoint;
  if (manifest.length === 0) return <EmptyState title={unlistedText(checkpoint)} />;
  return (
    <>
      <PlainTable
        caption="Files"
        rows={manifest.slice(0, filesShownMax)}
        keyOf={({ path }) => path}
        columns={[
          { title: "File", cell: ({ path }) => path },
          { title: "Size", numeric: true, cell: ({ bytes: size }) => bytes(size) },
        ]}
      />
      {manifest.length > filesShownMax && (
        <p className={styles["muted"]}>
          The first {filesShownMax} of {count(manifest.length)} files.
        </p>
      )}
    </>
  );
}
