import { getRouteApi } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { CodeText } from "../../components/code-text.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import { LogView } from "../../components/log-view/log-view.tsx";
import { Page } from "../../components/page/page.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { taskState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useTaskPage } from "../../components/task-page/use-task-page.tsx";
import { Warning } from "../../components/warning.tsx";
import { useCall } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { useIsOwn } from "../../data/may.ts";
import { TaskFailure } from "./failure.tsx";
import { Runs } from "./runs.tsx";
import type { TaskSearch } from "./search.ts";
import styles from "./task.module.css";
import { TerminalTab } from "./terminal-tab.tsx";
import { folderText, idleText, savedText, type TaskUse } from "./use-texts.ts";
import { useTaskUse } from "./use-task-use.ts";
import { DeleteDialog, KillTask, openVerbs, useVerbs } from "./verbs.tsx";

const route = getRouteApi("/tasks/$task");

type Task = ReplyOf<"getTask">;

export function TaskPage(): JSX.Element {
  const { task: id } = route.useParams();
  const task = useCall("getTask", { task: id }, { watch: { kind: "tasks", id } });
  if (task.data !== undefined) return <TaskOf task={task.data} />;
  return (
    <Page title={`Task ${id}`}>
      {task.error === null ? (
        <p className={styles["loading"]}>Reading task {id} …</p>
      ) : (
        <ErrorNote error={task.error} onRetry={() => void task.refetch()} />
      )}
    </Page>
  );
}

function TaskOf({ task }: { readonly task: Task }): JSX.Element {
  const { id, name, reason, unsaved } = task;
  const { tab = task.kind === "shell" ? "terminal" : "logs" } = route.useSearch();
  const navigate = route.useNavigate();
  const { verbs, opened, close } = useVerbs(task);
  const page = useTaskPage();
  const use = useTaskUse(task);
  const isOwn = useIsOwn()(task.owner);
  return (
    <Page
      title={`Task ${id}`}
      above={[{ title: "Tasks", to: "/tasks" }]}
      state={
        <>
          <StateBadge state={taskState(task)} restarts={task.restarts} title={reason} />
          <span>{name}</span>
          {use !== undefined && <span className={styles["use"]}>{idleText(use, task)}</span>}
        </>
      }
      verbs={[...(isOwn ? openVerbs(task, page.open) : []), ...verbs]}
    >
      {task.state === "ERROR" ? (
        <TaskFailure task={task} />
      ) : (
        reason !== "" && <p className={styles["reason"]}>{reasonText(task)}</p>
      )}
      <div className={styles["warnings"]}>
        <Warning text={unsaved} />
        <Warning text={use?.notice ?? ""} />
      </div>
      <Tabs
        label={`Task ${id}`}
        tabs={[
          { id: "logs", title: "Logs" },
          { id: "terminal", title: "Terminal" },
          { id: "runs", title: "Runs", count: task.runs.length },
          { id: "configuration", title: "Configuration" },
        ]}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next as TaskSearch["tab"] } })}
      >
        <Content task={task} tab={tab} use={use} />
      </Tabs>
      {page.dialog}
      <KillTask task={id} open={opened === "kill"} onClose={close} />
      <DeleteDialog task={id} open={opened === "delete"} onClose={close} />
    </Page>
  );
}

function reasonText({ state, reason }: Task): string {
  const [line = ""] = reason.split("\n");
  const text = state === "QUEUED" && !line.startsWith("it waits") ? `it waits: ${line}` : line;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

type ContentProps = FactsProps & { readonly tab: NonNullable<TaskSearch["tab"]> };

function Content({ task, tab, use }: ContentProps): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (tab === "terminal") return <TerminalTab task={task} />;
  if (tab === "runs") return <Runs runs={task.runs} />;
  if (tab === "configuration") {
    const text = JSON.stringify(task.config ?? {}, null, 2);
    return <CodeText label={`Configuration of task ${task.id}`} text={text} />;
  }
  return (
    <div className={styles["body"]}>
      <LogView
        task={{ task: task.id }}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
        hrefOf={(cursor) => `/tasks/${task.id}?line=${cursor}`}
        live={task.endedAtMs === undefined}
      />
      <Facts task={task} use={use} />
    </div>
  );
}

type FactsProps = { readonly task: Task; readonly use: TaskUse | undefined };

function Facts({ task, use }: FactsProps): JSX.Element {
  const nowMs = useNow();
  const run = task.runs.at(-1);
  return (
    <aside className={styles["facts"]} aria-label="Facts about the task">
      <h2>Task</h2>
      <FactList
        facts={[
          ["Kind", task.kind],
          ["Exit code", task.exitCode === undefined ? "" : String(task.exitCode)],
          ["Agent", run?.placements.map(({ agent }) => agent).join(", ") ?? ""],
          ["Slots", String(task.slots)],
          ["Shows", task.sources.length === 0 ? "" : <Sources sources={task.sources} />],
          ["Use", use === undefined ? "" : idleText(use, task)],
          ["Folder", folderText(use)],
          ["Saved", savedText(task.lastSave, nowMs)],
          ["Ports", task.ports.map(portText).join(", ")],
          ["Pool", task.pool],
          ["Priority", String(task.priority)],
          ["Workspace", task.workspace],
          ["Owner", task.owner],
          ["Restarts", task.restarts === 0 ? "" : String(task.restarts)],
          ["Created", time(task.createdAtMs)],
          ["Started", time(task.startedAtMs)],
          ["Ended", time(task.endedAtMs)],
        ]}
      />
    </aside>
  );
}

/** Links to the experiments and trials of a TensorBoard. */
function Sources({ sources }: { readonly sources: readonly string[] }): JSX.Element {
  return (
    <span className={styles["sources"]}>
      {sources.map((source) => (
        <PathLink
          key={source}
          to={source.includes(".") ? `/trials/${source}` : `/experiments/${source}`}
        >
          {source}
        </PathLink>
      ))}
    </span>
  );
}

const portText = ({ port, isTcp }: Task["ports"][number]): string =>
  isTcp ? `${port} (TCP)` : String(port);
