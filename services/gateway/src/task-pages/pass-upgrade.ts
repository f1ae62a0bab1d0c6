/** Passes a WebSocket to the server of a task. */
import { type IncomingMessage, request } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import type { Clock } from "@trainyard/kernel";
import type { Target } from "@trainyard/tunnel";
import { Problem } from "../http/problem.ts";
import { taskPageLimits } from "./limits.ts";
import { type Passing, serverOf } from "./pass-request.ts";
import { headersFromTask, headersToTask } from "./passed-headers.ts";
import { TunnelAgent } from "./tunnel-agent.ts";

/** Passes one upgrade. Resolves when it has ended; rejects if the task's server gave no answer within the limit. */
export function passUpgrade(
  asked: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  passing: Passing & { readonly clock: Clock },
): Promise<void> {
  // The browser left while its session was looked at: "close" would not come again.
  if (socket.destroyed || socket.readableEnded) {
    socket.destroy();
    return Promise.resolve();
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const upstream = request({
    ...TunnelAgent.optionsFor(passing.allocation, passing.target),
    agent: passing.agent,
    method: "GET",
    path: asked.url,
    headers: [
      ...headersToTask(asked.rawHeaders, passing),
      ...["Connection", "Upgrade", "Upgrade", asked.headers.upgrade ?? ""],
    ],
  });
  const cut = (): void => {
    upstream.destroy();
    socket.destroy();
  };
  passing.signal.addEventListener("abort", cut, { once: true });
  // Nobody reads the connection before the answer, so its end is heard here.
  socket.once("end", cut);
  socket.once("close", () => {
    passing.signal.removeEventListener("abort", cut);
    upstream.destroy();
    resolve();
  });
  const silent = passing.clock.timer(taskPageLimits.upgradeMs, () =>
    upstream.destroy(noAnswer(passing.target)),
  );
  const answered = (): void => silent[Symbol.dispose]();
  for (const event of ["upgrade", "response", "close"]) upstream.once(event, answered);
  upstream.once("error", reject);
  upstream.once("upgrade", (answer, stream, first) => {
    socket.off("end", cut);
    const headers = [
      ...headersFromTask(answer.rawHeaders),
      ...["Connection", "Upgrade", "Upgrade", answer.headers.upgrade ?? ""],
    ];
    socket.write(headOf(answer, headers));
    if (first.length > 0) socket.write(first);
    if (head.length > 0) stream.write(head);
    pipeline(socket, stream, socket, cut);
    passing.signal.addEventListener("abort", () => stream.destroy(), { once: true });
  });
  upstream.once("response", (answer) => {
    // The server refused: its answer is passed, and the connection ends with it.
    socket.write(headOf(answer, [...headersFromTask(answer.rawHeaders), "Connection", "close"]));
    pipeline(answer, socket, () => socket.destroy());
  });
  upstream.end();
  return promise;
}

function noAnswer(target: Target): Problem {
  const seconds = taskPageLimits.upgradeMs / 1_000;
  const detail = `the ${serverOf(target)} of the task did not answer the upgrade within ${seconds} s`;
  return new Problem(504, "gateway_timeout", detail);
}

function headOf({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]) {
  const lines = Array.from(
    { length: headers.length / 2 },
    (_, at) => `${headers[2 * at]}: ${headers[2 * at + 1]}\r\n`,
  );
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}
