/** The calls of tasks. The experiments service decides; the read model answers queries. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import type { RequestContext, SomeHandlers } from "../../http/request-context.ts";
import { taskList } from "../../read-model/core/lists/lists.ts";
import { maskedWaits } from "../rights/masks.ts";
import { shownRuns } from "../experiments/whole.ts";
import { rowsPage } from "../lists.ts";
import { type FollowedLines, followLines, lastLines, listLines } from "../logs/trial-logs.ts";
import { shownTask } from "../shown.ts";
import { mayUseTask, usableTask } from "./access.ts";
import { createTask } from "./create-task.ts";

/** The last lines of a task in ERROR that `describe` shows. */
const shownLogLines = 20;

export function taskHandlers(
  backend: Backend,
  lines: FollowedLines,
  checkpointStorage: GatewayConfig["checkpointStorage"],
) {
  const changed = async ({ position }: { readonly position: number }, id: string) => {
    await backend.reach(position);
    const task = shownTask(await backend.get("task", id), await backend.configOf(id));
    return { task, position: String(position || backend.position) };
  };
  return {
    unary: {
      createTask: (request, context) => createTask(backend, checkpointStorage, request, context),
      listTasks: async (request, context) => {
        const { items, ...page } = await rowsPage(backend, taskList, request, { context });
        const seen = items.filter((task) => mayUseTask(context.caller, task) === null);
        const masked = await maskedWaits(backend, context.rights, seen);
        return { ...page, items: masked.map((task) => shownTask(task)) };
      },
      getTask: (request, context) => getTask(backend, request, context),
      killTask: async ({ task: id, reason }, context) => {
        await usableTask(backend, id, context.caller);
        const message = { task: id, reason: reason || "killed by a user" };
        return changed(await backend.command("experiments", "KillTask", message, context), id);
      },
      pauseTask: async ({ task: id, reason }, context) => {
        await usableTask(backend, id, context.caller);
        const message = { task: id, reason: reason || "paused by a user" };
        return changed(await backend.command("experiments", "PauseTask", message, context), id);
      },
      resumeTask: async ({ task: id }, context) => {
        await usableTask(backend, id, context.caller);
        const message = { task: id };
        return changed(await backend.command("experiments", "ResumeTask", message, context), id);
      },
      deleteTask: async ({ task: id }, context) => {
        // Read before the command: afterwards there is no document.
        const task = await usableTask(backend, id, context.caller);
        const shown = shownTask(task, await backend.configOf(id));
        const message = { task: id };
        const { position } = await backend.command("experiments", "DeleteTask", message, context);
        await backend.reach(position);
        return { task: shown, position: String(position || backend.position) };
      },
      listTaskLogs: async (asked, context) => {
        await usableTask(backend, asked.task, context.caller);
        return listLines(backend, asked.task, asked, context);
      },
    },
    streams: {
      followTaskLogs: async function* ({ task, ...asked }, context) {
        await usableTask(backend, task, context.caller);
        yield* followLines(lines, { experiment: "", trial: task }, asked, context);
      },
    },
  } satisfies SomeHandlers;
}

async function getTask(
  backend: Backend,
  { task: id, minPosition }: RequestOf<"getTask">,
  context: RequestContext,
): Promise<ReplyOf<"getTask">> {
  await backend.reachText(minPosition);
  const usable = await usableTask(backend, id, context.caller);
  const whole = { ...usable, runs: [...(await shownRuns(backend, usable))] };
  const [doc = whole] = await maskedWaits(backend, context.rights, [whole]);
  const task = shownTask(doc, await backend.configOf(id));
  if (task.state !== "ERROR") return task;
  return { ...task, lastLogLines: await lastLines(backend, id, shownLogLines, context) };
}
