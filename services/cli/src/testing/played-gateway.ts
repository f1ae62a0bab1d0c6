/** A simulated gateway, and the command line run against it in the test's process: processes would take seconds. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { vi } from "vitest";
import { run } from "../program.ts";

export type PlayedRequest = {
  /** The method and path, for example "GET /api/v1/pools". */
  readonly call: string;
  /** The parsed body; null for none. */
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: string | undefined;
};

export type PlayedAnswer =
  /** The body of the answer: a Buffer is sent as it is, an object as JSON. */
  | { readonly status?: number; readonly body: object; readonly retryAfterS?: number }
  /** Server-sent events, as the text that is sent. */
  | { readonly events: string };

export type PlayedGateway = AsyncDisposable & {
  readonly url: string;
  /** The requests that the gateway has received so far. */
  readonly requests: readonly PlayedRequest[];
  /** The header traceparent of each of them. */
  readonly traceparents: readonly (string | undefined)[];
  /** Runs the command line; each argument is one word. Returns its output. */
  readonly yard: (...args: readonly string[]) => Promise<Ran>;
};

export type Ran = {
  readonly code: number;
  readonly err: string;
  readonly lines: readonly string[];
  readonly out: string;
};

/** Makes a problem as the gateway answers it. */
export function problem(status: number, code: string, detail: string): PlayedAnswer {
  return { status, body: { status, code, detail } };
}

export async function playGateway(
  answer: (request: PlayedRequest) => PlayedAnswer,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void = refuseUpgrade,
): Promise<PlayedGateway> {
  const requests: PlayedRequest[] = [];
  const traceparents: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const key = request.headers["idempotency-key"];
      const asked = {
        call: `${request.method} ${request.url}`,
        body: text === "" ? null : (JSON.parse(text) as unknown),
        idempotencyKey: key === undefined ? undefined : String(key),
        ifMatch: request.headers["if-match"],
      };
      requests.push(asked);
      traceparents.push(request.headers["traceparent"]?.toString());
      const answered = answer(asked);
      if ("events" in answered) {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(answered.events);
        return;
      }
      const { status = 200, body, retryAfterS } = answered;
      if (Buffer.isBuffer(body)) {
        response.writeHead(status, { "content-type": "application/octet-stream" }).end(body);
        return;
      }
      const type = status < 400 ? "application/json" : "application/problem+json";
      const later = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
      response.writeHead(status, { "content-type": type, ...later });
      response.end(JSON.stringify(body));
    });
  })
    .on("upgrade", upgrade)
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    traceparents,
    yard: (...args) => yard(url, args),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const refuseUpgrade = (_request: IncomingMessage, socket: Duplex): void => void socket.destroy();

async function yard(url: string, args: readonly string[]): Promise<Ran> {
  vi.stubEnv("TRAINYARD_URL", url);
  vi.stubEnv("TRAINYARD_TOKEN", "t");
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    const code = await run(args);
    const out = stdout.text();
    const lines = out.trimEnd().split("\n");
    const words = lines.map((line) => line.trim().replaceAll(/ +/g, " "));
    return { code, err: stderr.text(), lines: words, out };
  } finally {
    stdout.end();
    stderr.end();
    vi.unstubAllEnvs();
  }
}

function capture(stream: NodeJS.WriteStream) {
  let text = "";
  const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return { text: () => text, end: () => spy.mockRestore() };
}
