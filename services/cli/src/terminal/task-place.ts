/** Waits until a task runs, and says why it waits. */
import type { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";
import { pause } from "@trainyard/kernel";
import { cliLimits } from "../limits.ts";
import { firstLine, type Output } from "../output.ts";
import { Failure } from "../usage-error.ts";

const waiting: ReadonlySet<string> = new Set(["QUEUED", "STARTING"]);
const over: ReadonlySet<string> = new Set(["PAUSED", "COMPLETED", "KILLED", "ERROR"]);

export const isTaskOver = ({ state }: Pick<Plain<Task>, "state">): boolean => over.has(state);

export type TaskPlace = {
  readonly client: Client;
  readonly output: Output;
  readonly task: string;
  /** The position of the task's creation, which a replica may not have read yet. */
  readonly position?: string;
  readonly signal?: AbortSignal;
};

/** Returns the task once it has started or ended. Each state and reason until then is printed to stderr. */
export async function taskWithPlace(place: TaskPlace): Promise<Plain<Task>> {
  const { client, output, task, position = "", signal } = place;
  let said = "";
  for (let looks = 0; ; looks += 1) {
    const found = await client.call(
      "getTask",
      { task, minPosition: position },
      { outlast: said !== "", ...(signal === undefined ? {} : { signal }) },
    );
    if (!waiting.has(found.state)) return found;
    const why = found.reason === "" ? "" : `, ${firstLine(found.reason)}`;
    const text = `task ${task}: ${found.state}${why}`;
    if (text !== said) output.note(text);
    said = text;
    const isSoon = looks < cliLimits.taskPlaceSoonLooks;
    const againMs = isSoon ? cliLimits.taskPlaceSoonMs : cliLimits.taskPlaceAgainMs;
    await pause(client.clock, againMs, signal);
  }
}

/** Returns true once a task runs, and false if the signal aborts before. Throws a Failure if it has ended. */
export async function hasStarted(place: TaskPlace): Promise<boolean> {
  const found = await taskWithPlace(place).catch((error: unknown) => {
    if (place.signal?.aborted !== true) throw error;
    return null;
  });
  if (found === null) return false;
  const { id, state, reason } = found;
  if (!isTaskOver(found)) return true;
  const why = reason === "" ? "" : `: ${firstLine(reason)}`;
  throw new Failure(`Task ${id} has ended ${state}${why}.`);
}
