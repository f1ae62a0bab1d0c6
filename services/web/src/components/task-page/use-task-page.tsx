import { ApiError } from "@trainyard/client";
import { type JSX, useState } from "react";
import { useChange } from "../../data/calls.ts";
import { Dialog } from "../dialog.tsx";
import { Command } from "../empty-state.tsx";
import { useSay } from "../toasts.tsx";
import { pagePorts, type Serving } from "./page-ports.ts";

/** The page of a task: 0 for its own page, or else that of its first HTTP port, whose host is the task's own. */
type TaskPlace = { readonly task: string; readonly port: number };

/** Opens the page behind a port of a task in a new tab; 0 is the task's own page. */
export type OpenTaskPage = (task: Serving, port: number) => void;

/**
 * Opens pages of tasks in new tabs. `dialog` is the part of the page that shows the command which opens one where
 * browsers cannot reach the hosts of tasks.
 */
export function useTaskPage(): {
  readonly open: OpenTaskPage;
  readonly dialog: JSX.Element;
} {
  const session = useChange("createTaskSession");
  const say = useSay();
  const [elsewhere, setElsewhere] = useState<TaskPlace | null>(null);
  const open: OpenTaskPage = (task, port) => {
    const place = { task: task.id, port: port === pagePorts(task)[0] ? 0 : port };
    session.mutate(
      { request: place },
      {
        // The page may be hostile: it gets no handle of this window.
        onSuccess: ({ url }) => void window.open(url, "_blank", "noopener,noreferrer"),
        onError: (error) => {
          const hasNoDomain = error instanceof ApiError && error.problem.code === "no_task_domain";
          if (hasNoDomain) setElsewhere(place);
          else say.failed(error);
        },
      },
    );
  };
  const dialog = <ElsewhereDialog place={elsewhere} onClose={() => setElsewhere(null)} />;
  return { open, dialog };
}

type ElsewhereProps = { readonly place: TaskPlace | null; readonly onClose: () => void };

function ElsewhereDialog({ place, onClose }: ElsewhereProps): JSX.Element {
  const { task, port } = place ?? { task: "", port: 0 };
  return (
    <Dialog
      open={place !== null}
      onClose={onClose}
      title={`Open the page of task ${task}`}
      description="This cluster has no domain for the pages of tasks. Run this command on your machine: it prints a link that opens the page there."
    >
      <Command text={`yard task open ${task}${port === 0 ? "" : ` --port ${port}`}`} />
    </Dialog>
  );
}
