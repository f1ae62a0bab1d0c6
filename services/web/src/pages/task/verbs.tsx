import { useNavigate } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { KillDialog } from "../../components/kill-dialog.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { pagePorts, type OpenTaskPage } from "../../components/task-page/use-task-page.tsx";
import { useChange } from "../../data/calls.ts";

type Opened = "kill" | "delete" | null;

/** The current actions on a task: kill one that has not ended, delete one that has. */
export function useVerbs({ endedAtMs }: Pick<ReplyOf<"getTask">, "endedAtMs">) {
  const [opened, setOpened] = useState<Opened>(null);
  const verbs: readonly Verb[] =
    endedAtMs === undefined
      ? [{ title: "Kill", danger: true, run: () => setOpened("kill") }]
      : [{ title: "Delete", danger: true, run: () => setOpened("delete") }];
  return { verbs, opened, close: () => setOpened(null) };
}

/** An action for the page of each port. */
export function openVerbs(
  task: Pick<ReplyOf<"getTask">, "id" | "ports" | "state">,
  open: OpenTaskPage,
): readonly Verb[] {
  const ports = pagePorts(task);
  return ports.map((port, at) => ({
    title: ports.length === 1 ? "Open" : `Open ${port}`,
    primary: at === 0,
    run: () => open(task, port),
  }));
}

type Props = { readonly task: string; readonly open: boolean; readonly onClose: () => void };

export function KillTask({ task, open, onClose }: Props): JSX.Element {
  const kill = useChange("killTask", ["getTask", "listTasks"]);
  return (
    <KillDialog
      what={`task ${task}`}
      description="Its processes end at once."
      open={open}
      onClose={onClose}
      kill={(reason) => kill.mutate({ request: { task, reason } }, { onSuccess: onClose })}
      isPending={kill.isPending}
      error={kill.error}
    />
  );
}

export function DeleteDialog({ task, open, onClose }: Props): JSX.Element {
  const remove = useChange("deleteTask", ["listTasks"]);
  const navigate = useNavigate();
  const say = useSay();
  const doIt = () =>
    remove.mutate(
      { request: { task } },
      {
        onSuccess: () => {
          say.done(`Task ${task} is deleted.`);
          void navigate({ to: "/tasks", search: {} });
        },
      },
    );
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Delete task ${task}`}
      description="Its log lines are removed. This cannot be undone."
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={remove.isPending} onClick={doIt}>
            Delete
          </Button>
        </>
      }
    >
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </Dialog>
  );
}
