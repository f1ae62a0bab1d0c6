/**
 * Asks the server of a task's page how it is used. The task's own programs may serve the socket, so the answer is
 * bounded.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { z } from "zod";
import { limits } from "../limits.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { connectPage } from "../state/run-socket.ts";

/** The header by which a server knows the gateway and its agent. */
const secretHeader = "x-trainyard-task-secret";
const usePath = "/trainyard/use";

const seconds = z.number().nonnegative();
const uses = z.object({
  kernels: z.array(
    z.object({
      busy: z.boolean(),
      idle_seconds: seconds,
      connections: z.number().int().nonnegative(),
      ever_connected: z.boolean(),
    }),
  ),
  terminals: z.array(z.object({ idle_seconds: seconds })),
  /** The seconds since the last write, and since the last request of a person; null if there was none. */
  write_seconds: seconds.nullable(),
  request_seconds: seconds.nullable(),
});
export type ServerUse = z.infer<typeof uses>;

type Asked = Pick<RunFolder, "launch" | "runDir">;

/** Throws if the server does not answer in time, or answers something else. */
export async function askUse({ launch, runDir }: Asked, signal: AbortSignal): Promise<ServerUse> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.serverAnswerMs)]);
  const socket = await connectPage(runDir);
  const asked = request({
    path: usePath,
    headers: { host: "localhost", [secretHeader]: launch.task?.secret ?? "" },
    createConnection: () => socket,
    signal: limit,
  });
  try {
    asked.end();
    const [answer] = (await once(asked, "response", { signal: limit })) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`the server answered ${answer.statusCode}`);
    return uses.parse(JSON.parse(await bounded(answer)));
  } finally {
    asked.on("error", () => {}).destroy();
    socket.destroy();
  }
}

async function bounded(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > limits.serverAnswerBytesMax) throw new Error("the server's answer is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
