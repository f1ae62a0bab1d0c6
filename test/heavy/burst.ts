/** Sends requests over many connections until a time has passed, and counts the answers by status. */
import { setMaxListeners } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import type { HeavyRequest } from "./heavy-requests.ts";

export type Target = {
  readonly url: string;
  readonly method: string;
  readonly token: string;
};

/** The connections of a burst, its time, and the time for answers after it. */
export type Force = {
  readonly connections: number;
  readonly forMs: number;
  readonly graceMs: number;
};

export type Counts = {
  /** The number of answers by status; `cut` for a connection that broke, `open` for one that was left at the end. */
  readonly statuses: Record<string, number>;
  /** A sentence for each kind of answer that no caller may get. */
  readonly violations: string[];
};

const answerCharactersMax = 400;
const violationsMax = 5;

export class Burst {
  readonly #agent = new Agent({ keepAlive: true });

  /** Requests that are on their way at the end have the grace to be answered. */
  async run(
    target: Target,
    requests: readonly HeavyRequest[],
    { connections, forMs, graceMs }: Force,
  ): Promise<Counts> {
    const counts: Counts = { statuses: {}, violations: [] };
    const streamsOver = AbortSignal.timeout(forMs);
    const over = AbortSignal.timeout(forMs + graceMs);
    setMaxListeners(0, streamsOver, over);
    const endMs = performance.now() + forMs;
    const connection = async (_: unknown, first: number): Promise<void> => {
      // Each connection sends at least one request, so that each kind of it is sent.
      for (let next = first; next < first + 1 || performance.now() < endMs; next += 1) {
        const sent = requests[next % requests.length];
        if (sent === undefined || over.aborted) return;
        const answer = await this.#send(target, sent, { over, streamsOver });
        counts.statuses[answer.status] = (counts.statuses[answer.status] ?? 0) + 1;
        const violation = violationOf(answer);
        if (violation !== null && counts.violations.length < violationsMax)
          counts.violations.push(`${violation} (${sent.path.slice(0, 100)})`);
      }
    };
    await Promise.all(Array.from({ length: connections }, connection));
    return counts;
  }

  /** Resolves with the answer. A stream is read until its signal aborts. */
  #send(
    { url, method, token }: Target,
    { path, body }: HeavyRequest,
    { over, streamsOver }: Ends,
  ): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const left = (): void => {
      sending.destroy();
      resolve({ ...none, status: "open" });
    };
    const { hostname, port } = new URL(url);
    const sending = httpRequest({
      ...{ agent: this.#agent, hostname, port, method, path },
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === null
          ? {}
          : { "content-type": "application/json", "content-length": body.length }),
      },
    });
    sending.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ ...none, status: error.code === "ECONNREFUSED" ? "refused" : "cut" }),
    );
    sending.once("response", (response) => {
      const { statusCode = 0, headers } = response;
      const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
      const leave = (): void => void sending.destroy();
      if (isStream && streamsOver.aborted) leave();
      if (isStream) streamsOver.addEventListener("abort", leave, { once: true });
      let said = "";
      response.setEncoding("latin1");
      response.on("data", (part: string) => {
        if (said.length < answerCharactersMax || isStream)
          said = (said + part).slice(-answerCharactersMax);
      });
      response.once("close", () =>
        resolve({
          status: String(statusCode),
          retryAfter: headers["retry-after"] ?? "",
          said,
          isStream,
        }),
      );
      response.once("error", () => {});
    });
    over.addEventListener("abort", left, { once: true });
    sending.end(body ?? undefined);
    return promise.finally(() => over.removeEventListener("abort", left));
  }
}

/** The ends of the time for streams, and of that for all requests. */
type Ends = { readonly over: AbortSignal; readonly streamsOver: AbortSignal };

type Answer = {
  readonly status: string;
  readonly retryAfter: string;
  /** The beginning of the answer, or the end of a stream. */
  readonly said: string;
  readonly isStream: boolean;
};

const none = { retryAfter: "", said: "", isStream: false };

/** A heavy caller may be asked to wait, but nothing fails. */
function violationOf({ status, retryAfter, said, isStream }: Answer): string | null {
  if (status === "refused") return "no process accepts connections";
  if (isStream && /event: problem\ndata: \{.*"status":500/.test(said))
    return `a stream ended with ${said}`;
  if (status === "503" || status === "429")
    return retryAfter === "" ? `${status} without Retry-After: ${said}` : null;
  return Number(status) >= 500 ? `${status}: ${said}` : null;
}
