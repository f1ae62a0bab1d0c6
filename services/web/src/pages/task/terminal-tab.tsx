import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, lazy, Suspense, useState } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { useIsOwn } from "../../data/may.ts";
import styles from "./task.module.css";

const TerminalView = lazy(async () => ({
  default: (await import("../../components/terminal/terminal-view.tsx")).TerminalView,
}));

type Shown = Pick<ReplyOf<"getTask">, "id" | "kind" | "state" | "endedAtMs" | "runs" | "owner">;
type Props = { readonly task: Shown };

/** The terminal of a shell, or a shell beside a running command, which is started on request. */
export function TerminalTab({ task }: Props): JSX.Element {
  const { id, kind, state, endedAtMs, runs } = task;
  const [asked, setAsked] = useState(kind === "shell" ? 1 : 0);
  // A terminal whose task has ended shows its last screen, until a resumed task runs again.
  const [shown, setShown] = useState(0);
  const isRunning = state === "RUNNING" || state === "STOPPING";
  const isNew = kind === "shell" ? shown !== runs.length : shown === 0;
  const isOwn = useIsOwn()(task.owner);
  if (asked > 0 && isRunning && isNew && isOwn) setShown(runs.length);
  if (shown > 0) {
    return (
      <Suspense fallback={<p className={styles["loading"]}>Opening the terminal …</p>}>
        <TerminalView
          key={`${shown} ${asked}`}
          task={id}
          terminal="main"
          onAgain={isRunning && kind !== "shell" ? () => setAsked(asked + 1) : undefined}
        />
      </Suspense>
    );
  }
  if (!isOwn) {
    return (
      <EmptyState title={`Only ${task.owner} opens a terminal of this task.`}>
        It acts with the rights of its owner.
      </EmptyState>
    );
  }
  if (state === "PAUSED")
    return <EmptyState title="The terminal opens when the task is resumed." />;
  if (endedAtMs !== undefined) {
    return <EmptyState title="The task has ended, and its terminals with it." />;
  }
  if (!isRunning) return <EmptyState title="The terminal opens when the task runs." />;
  return (
    <EmptyState title="No terminal is open." command={`yard shell open ${id}`}>
      <p>A shell starts beside the command, with the files and the variables of the task.</p>
      <Button onClick={() => setAsked(asked + 1)}>Open a shell</Button>
    </EmptyState>
  );
}
