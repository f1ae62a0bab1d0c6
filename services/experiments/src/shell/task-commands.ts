/** The commands of people about tasks, sent by the gateway. Each is one commit to the stream of one task. */
import type { EventData, Plain } from "@trainyard/contracts";
import type { CreateTask } from "@trainyard/contracts/commands";
import { taskKinds } from "@trainyard/experiment-config/recorded";
import { isRejection, isTaskId, type Rejection, reject } from "@trainyard/kernel";
import {
  accepted,
  type CommandContext,
  type CommandTable,
  type Executor,
  foldOf,
  refusalOfContents,
  type Work,
} from "@trainyard/runtime";
import type { TaskCommand } from "../core/task/commands.ts";
import { tasks } from "../streams.ts";
import type { Waits } from "./advance.ts";
import { advanceTask } from "./advance-task.ts";
import type { ExperimentIds } from "./experiment-ids.ts";
import type { UnendedTasks } from "./unended-tasks.ts";

const kinds: readonly string[] = taskKinds;

export function taskCommands(
  executor: Executor,
  ids: ExperimentIds,
  unended: UnendedTasks,
  waits: Pick<Waits, "isOver" | "delays">,
) {
  const change = async (id: string, { identity }: CommandContext, wanted: TaskCommand) => {
    if (!isTaskId(id)) return noTask(id);
    const result = await executor.execute(identity, (work) => decide(work, id, wanted));
    return accepted(result);
  };
  /** A resumed task counts for its workspace again. */
  const resume = async (id: string, { identity }: CommandContext) => {
    if (!isTaskId(id)) return noTask(id);
    const { state } = await executor.cache.load(foldOf(tasks), id);
    const decideIt = () =>
      executor.execute(identity, async (work) => {
        const refused = await decide(work, id, { kind: "resume" });
        if (refused === undefined) await advanceTask(work, id, waits);
        return refused;
      });
    if (state.status !== "ended") return accepted(await decideIt());
    return accepted(await unended.creating(identity.commitId, state.workspace, decideIt));
  };
  return {
    CreateTask: async (request, { identity }) => {
      const created = createdFrom(request);
      if (isRejection(created)) return created;
      const { workspace } = created;
      const meta = { ...identity.meta, workspace };
      const { contextDigest: digest, contextDeletions: deletions } = request;
      const decide = () =>
        executor.execute({ ...identity, meta }, async (work) => {
          const code = { folder: "contexts", digest, deletions } as const;
          const deleted = await refusalOfContents(work, [code]);
          if (deleted !== null) return deleted;
          const decided = await work.decide(tasks, await ids.nextTask(), {
            kind: "create",
            created,
          });
          return isRejection(decided) ? decided : undefined;
        });
      return accepted(await unended.creating(identity.commitId, workspace, decide));
    },
    KillTask: ({ task, reason }, context) => change(task, context, { kind: "kill", reason }),
    PauseTask: ({ task, reason }, context) => change(task, context, { kind: "pause", reason }),
    ResumeTask: ({ task }, context) => resume(task, context),
    DeleteTask: ({ task }, context) => change(task, context, { kind: "delete" }),
  } satisfies Partial<CommandTable<"experiments">>;
}

function noTask(id: string): Rejection {
  const shown = JSON.stringify(id.slice(0, 80));
  return reject("task_not_found", `${shown} is not the id of a task, such as t12`);
}

async function decide(
  work: Work,
  id: string,
  command: TaskCommand,
): Promise<Rejection | undefined> {
  const decided = await work.decide(tasks, id, command);
  return isRejection(decided) ? { ...decided, detail: `task ${id}: ${decided.detail}` } : undefined;
}

function createdFrom(request: Plain<CreateTask>): EventData<"TaskCreated"> | Rejection {
  const { kind, config, name, contextDigest, contextBytes, owner, workspace, tokenId } = request;
  const { sources } = request;
  if (config === undefined) return reject("invalid_request", "config is missing");
  if (!kinds.includes(kind)) {
    return reject("invalid_request", `the kind of a task is one of ${kinds.join(", ")}`);
  }
  return { kind, config, name, contextDigest, contextBytes, owner, workspace, tokenId, sources };
}
