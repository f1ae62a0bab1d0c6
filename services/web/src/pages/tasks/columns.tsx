import { Link } from "@tanstack/react-router";
import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";
import { Button } from "../../components/button.tsx";
import { age, time } from "../../components/format.ts";
import { taskState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import { pagePorts } from "../../components/task-page/page-ports.ts";
import type { OpenTaskPage } from "../../components/task-page/use-task-page.tsx";
import styles from "./page.module.css";

type Row = Plain<Task>;

export const initialLayout: ColumnLayout = [
  { id: "id", pinned: true },
  { id: "name" },
  { id: "kind" },
  { id: "state" },
  { id: "pages" },
  { id: "exit" },
  { id: "reason" },
  { id: "pool" },
  { id: "slots" },
  { id: "agent" },
  { id: "owner" },
  { id: "created" },
];

const plain = (
  id: string,
  title: string,
  width: number,
  text: (task: Row) => string,
): Column<Row> => ({ id, title, width, cell: text, text });

const agentOf = ({ runs }: Row): string => runs.at(-1)?.placements[0]?.agent ?? "";

const exitOf = ({ exitCode }: Row): string => (exitCode === undefined ? "" : String(exitCode));

const pageName = (port: number): string => (port === 0 ? "Open" : String(port));

/** The columns of the list; ages are as of `nowMs`, and `open` opens the page of a port of one's own task. */
export function taskColumns(
  nowMs: number,
  open: OpenTaskPage,
  isOwn: (owner: string) => boolean,
): readonly Column<Row>[] {
  const ports = (task: Row) => (isOwn(task.owner) ? pagePorts(task) : []);
  return [
    {
      ...plain("id", "Task", 72, ({ id }) => id),
      cell: ({ id }) => (
        <Link to="/tasks/$task" params={{ task: id }} search={{}}>
          {id}
        </Link>
      ),
    },
    { ...plain("name", "Name", 240, ({ name }) => name), min: 128, sort: "name" },
    { ...plain("kind", "Kind", 96, ({ kind }) => kind), sort: "kind" },
    {
      ...plain("state", "State", 112, (task) => taskState(task).word),
      sort: "state",
      cell: (task) => (
        <StateBadge state={taskState(task)} restarts={task.restarts} title={task.reason} />
      ),
    },
    {
      ...plain("pages", "Pages", 112, (task) => ports(task).map(pageName).join(", ")),
      cell: (task) => (
        <span className={styles["pages"]}>
          {ports(task).map((port) => (
            <Button
              key={port}
              look="link"
              aria-label={`Open ${port === 0 ? "" : `port ${port} of `}task ${task.id}`}
              title={port === 0 ? "Open its page" : `Open port ${port}`}
              onClick={() => open(task, port)}
            >
              {pageName(port)}
            </Button>
          ))}
        </span>
      ),
    },
    { ...plain("exit", "Exit", 56, exitOf), right: true, sort: "exit_code" },
    { ...plain("reason", "Reason", 220, ({ reason }) => reason.split("\n")[0] ?? ""), min: 112 },
    { ...plain("pool", "Pool", 96, ({ pool }) => pool), min: 72, sort: "pool" },
    { ...plain("slots", "Slots", 64, ({ slots }) => String(slots)), right: true, sort: "slots" },
    { ...plain("agent", "Agent", 120, agentOf), min: 88, sort: "agent" },
    { ...plain("owner", "Owner", 104, ({ owner }) => owner), min: 60, sort: "owner" },
    {
      ...plain("created", "Created", 96, ({ createdAtMs }) => time(createdAtMs)),
      sort: "created_at",
      cell: ({ createdAtMs }) => <span title={time(createdAtMs)}>{age(createdAtMs, nowMs)}</span>,
    },
  ];
}
