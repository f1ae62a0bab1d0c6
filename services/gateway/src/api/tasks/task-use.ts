/** The call that says how a task is used at this moment: its agent answers, through the tunnel of the run. */
import { once } from "node:events";
import type { Readable } from "node:stream";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type TaskUse, TaskUseSchema } from "@trainyard/contracts/api";
import { isFault } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { SomeHandlers } from "../../http/request-context.ts";
import { problemOfTunnel } from "../../tunnels/problem.ts";
import type { Tunnels } from "../../tunnels/tunnels.ts";
import { apiLimits } from "../limits.ts";
import { notRunning, refuseEnded } from "./serving.ts";
import { usableTask } from "./access.ts";

const uses = codecOf<Plain<TaskUse>>(TaskUseSchema);

export function taskUseHandlers(backend: Backend, tunnels: Pick<Tunnels, "open">) {
  return {
    unary: {
      getTaskUse: async ({ task: id }, { caller }) => {
        const task = await usableTask(backend, id, caller);
        refuseEnded(task);
        const run = task.runs.at(-1);
        if (run === undefined || task.state === "QUEUED") throw notRunning(task);
        const limit = AbortSignal.timeout(apiLimits.taskUseMs);
        try {
          const stream = await tunnels.open(run.id, { kind: "use" }, limit);
          return uses.decode(await textOf(stream, limit));
        } catch (error) {
          throw problemOf(error, id, limit);
        }
      },
    },
  } satisfies SomeHandlers;
}

async function textOf(stream: Readable, limit: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > apiLimits.taskUseBytesMax) stream.destroy(new Error("the document is too large"));
    else pieces.push(piece);
  });
  try {
    await once(stream, "end", { signal: limit });
    return Buffer.concat(pieces).toString("utf8");
  } finally {
    stream.destroy();
  }
}

/** A document that cannot be read is one that an agent of another version, or a broken link, has sent. */
function problemOf(error: unknown, id: string, limit: AbortSignal): unknown {
  const isOfTunnel = isFault(error) && error.code !== "undecodable";
  if (error instanceof Problem || (isOfTunnel && !limit.aborted)) return problemOfTunnel(error);
  return new Problem(503, "not_connected", `the agent of task ${id} does not answer`);
}
