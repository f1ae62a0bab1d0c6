/** Passes a request to the server of a task, and its answer back, without reading either. */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { Target } from "@trainyard/tunnel";
import { Problem } from "../http/problem.ts";
import { problemOfTunnel } from "../tunnels/problem.ts";
import type { UnreadStreams } from "../tunnels/unread-streams.ts";
import { headersFromTask, headersToTask, type ToTask } from "./passed-headers.ts";
import { TunnelAgent } from "./tunnel-agent.ts";

export type Passing = ToTask & {
  readonly agent: TunnelAgent;
  readonly allocation: string;
  readonly target: Target;
  readonly unread: UnreadStreams;
  /** Aborts when the person's session or the run has ended. */
  readonly signal: AbortSignal;
};

/**
 * Passes one request. Rejects with the error of the connection if the task's server gave no answer; resolves when the
 * answer was passed or the connection broke in the middle of it.
 */
export async function passRequest(
  asked: IncomingMessage,
  response: ServerResponse,
  passing: Passing,
): Promise<void> {
  const hasBody = bodyOf(asked) !== "none";
  try {
    await attempt(asked, response, passing, hasBody);
  } catch (error) {
    // A server may close a kept connection at the moment at which the next request is sent.
    const isStale = error instanceof StaleConnection && !hasBody && !response.headersSent;
    if (!isStale) throw error instanceof StaleConnection ? error.cause : error;
    await attempt(asked, response, passing, hasBody);
  }
}

class StaleConnection extends Error {}

function attempt(
  asked: IncomingMessage,
  response: ServerResponse,
  passing: Passing,
  hasBody: boolean,
): Promise<void> {
  // The browser left while its session was looked at: "close" would not come again.
  if (response.destroyed) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const upstream = request({
    ...TunnelAgent.optionsFor(passing.allocation, passing.target),
    agent: passing.agent,
    method: asked.method,
    path: asked.url,
    // A body of unknown length keeps its form: without this header it would be read as the next request.
    headers: [
      ...headersToTask(asked.rawHeaders, passing),
      ...(bodyOf(asked) === "chunked" ? ["Transfer-Encoding", "chunked"] : []),
    ],
  });
  let isWhole = false;
  const cut = (): void => {
    upstream.destroy();
    response.destroy();
  };
  passing.signal.addEventListener("abort", cut, { once: true });
  response.once("close", () => {
    passing.signal.removeEventListener("abort", cut);
    // After a whole answer the connection already belongs to the next request.
    if (!isWhole) upstream.destroy();
    resolve();
  });
  upstream.once("error", (error) => {
    if (response.headersSent) response.destroy();
    else reject(upstream.reusedSocket ? new StaleConnection("stale", { cause: error }) : error);
  });
  upstream.once("upgrade", (_answer, stream) => {
    stream.destroy();
    reject(new Error("the server upgraded a request that asked for none"));
  });
  upstream.once("response", (answer) => {
    try {
      passHead(answer, response);
    } catch (error) {
      upstream.destroy();
      return reject(error);
    }
    passing.unread.watch(answer, () => answer.readableLength);
    answer.once("end", () => {
      isWhole = upstream.writableFinished;
    });
    pipeline(answer, response, (error) => {
      if (error) response.destroy();
    });
  });
  if (hasBody) pipeline(asked, upstream, () => {});
  else upstream.end();
  return promise;
}

/** Throws an error for a head that Node's client reads and its server does not write, such as one with the code 099. */
function passHead(answer: IncomingMessage, response: ServerResponse): void {
  const { statusCode = 502, statusMessage, rawHeaders } = answer;
  try {
    if (statusCode < 200)
      throw new Error(`the server ended its answer with the code ${statusCode}`);
    response.writeHead(statusCode, statusMessage, headersFromTask(rawHeaders));
  } catch (error) {
    // Otherwise the refusal of this answer would be written with the same text.
    response.statusMessage = "";
    throw error;
  }
  // Events of an open stream are sent at once, also the head before the first event. A body that came with its head is
  // sent with it.
  setImmediate(() => {
    if (!response.headersSent || response.writableEnded || response.destroyed) return;
    response.flushHeaders();
  });
}

function bodyOf({ headers }: IncomingMessage): "none" | "chunked" | "sized" {
  if (headers["transfer-encoding"] !== undefined) return "chunked";
  return (headers["content-length"] ?? "0") === "0" ? "none" : "sized";
}

/** Returns the problem for a request whose connection to the task's server failed. */
export function problemOfTask(error: unknown, target: Target): Problem {
  const known = problemOfTunnel(error);
  if (known instanceof Problem) return known;
  return new Problem(
    502,
    "bad_gateway",
    `the ${serverOf(target)} of the task broke the connection`,
  );
}

/** The name of a task's server in sentences. */
export function serverOf(target: Target): string {
  return target.kind === "port" ? `server at port ${target.port}` : "server of the page";
}
