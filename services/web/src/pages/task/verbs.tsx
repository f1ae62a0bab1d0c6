import { useNavigate } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { KillDialog } from "../../components/kill-dialog.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { pagePorts, type Serving } from "../../components/task-page/page-ports.ts";
import type { OpenTaskPage } from "../../components/task-page/use-task-page.tsx";
import { useChange } from "../../data/calls.ts";
import { useMay } from "../../data/may.ts";
import { type Paused, type TaskVerb, verbsOf } from "./verbs-of.ts";

type Opened = "kill" | "delete" | null;

/** The current actions on a task: pause and kill one that has not ended, resume and delete one that has. */
export function useVerbs(task: Pick<ReplyOf<"getTask">, "id" | "workspace" | "owner"> & Paused) {
  const { id } = task;
  const [opened, setOpened] = useState<Opened>(null);
  const pause = useChange("pauseTask", ["getTask", "listTasks"]);
  const resume = useChange("resumeTask", ["getTask", "listTasks"]);
  const say = useSay();
  const run: Readonly<Record<TaskVerb, () => void>> = {
    pause: () => pause.mutate({ request: { task: id } }, { onError: say.failed }),
    resume: () =>
      resume.mutate(
        { request: { task: id } },
        {
          onSuccess: () =>
            say.done(`Task ${id} continues with its files, and without its variables.`),
          onError: say.failed,
        },
      ),
    kill: () => setOpened("kill"),
    delete: () => setOpened("delete"),
  };
  const isPending = pause.isPending || resume.isPending;
  const may = useMay();
  const allowed = verbsOf(task).filter(({ verb }) => may(`${verb}Task`, task));
  const verbs = allowed.map(
    ({ verb, title, why }): Verb => ({
      title,
      danger: verb === "kill" || verb === "delete",
      disabled: isPending || why !== undefined,
      why,
      run: run[verb],
    }),
  );
  return { verbs, opened, close: () => setOpened(null) };
}

/** An action for the task's own page, and one for that of each port. */
export function openVerbs(task: Serving, open: OpenTaskPage): readonly Verb[] {
  const ports = pagePorts(task);
  return ports.map((port, at) => ({
    title: ports.length === 1 || port === 0 ? "Open" : `Open ${port}`,
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
      description="Its log lines and its saved files are removed. This cannot be undone."
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
