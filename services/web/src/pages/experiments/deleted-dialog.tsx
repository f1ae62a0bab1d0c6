import type { JSX } from "react";
import { BringBack } from "../../components/bring-back.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { time } from "../../components/format.ts";
import { PlainTable } from "../../components/plain-table.tsx";
import { useList } from "../../data/calls.ts";
import styles from "./page.module.css";

/** The deleted experiments that can still be brought back, the newest first. */
export function DeletedDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const deleted = useList("listDeletedExperiments", { pageSize: 100 });
  const rows = deleted.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Deleted experiments"
      description="Until the given time, an experiment can be brought back with its metrics, logs and checkpoints."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      {deleted.error !== null && <ErrorNote error={deleted.error} />}
      {deleted.isPending && <p role="status">Reading …</p>}
      {deleted.isSuccess && rows.length === 0 && (
        <EmptyState title="No deleted experiment can be brought back." />
      )}
      {rows.length > 0 && (
        <PlainTable
          caption="Deleted experiments"
          scroll={styles["deleted"]}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { title: "ID", numeric: true, cell: ({ id }) => id },
            { title: "Name", cell: ({ name }) => name },
            { title: "Owner", cell: ({ owner }) => owner },
            { title: "Reason", cell: ({ reason }) => reason },
            { title: "Until", cell: ({ graceEndMs }) => time(graceEndMs) },
            { title: "Bring back", cell: ({ id }) => <BringBack experiment={id} /> },
          ]}
        />
      )}
      {deleted.hasNextPage && (
        <Button onClick={() => void deleted.fetchNextPage()}>Show more</Button>
      )}
    </Dialog>
  );
}
