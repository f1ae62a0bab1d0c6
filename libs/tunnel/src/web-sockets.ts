/** WebSockets for tunnels and streams: without compression, of bounded messages, and dialled with a mask of zeros. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { Fault } from "@trainyard/kernel";
import { WebSocket, WebSocketServer } from "ws";
import { tunnelLimits } from "./limits.ts";
import { type LinkOptions, webSocketDuplex } from "./web-socket-duplex.ts";

const { messageBytesMax: maxPayload } = tunnelLimits;

/** The options of a WebSocket that carries a tunnel, whose link must never wait (tunnel.ts). */
export const tunnelLink = {
  writeAheadBytes: 2 * tunnelLimits.linkWindowBytes,
  deadLooks: tunnelLimits.deadLooks,
} as const;

/** Accepts WebSockets from a server's `upgrade` event. */
export class WebSocketDoor {
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload });

  /** Answers the upgrade and calls back with its stream; an invalid handshake is answered with 400. */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    options: LinkOptions,
    opened: (stream: Duplex, webSocket: WebSocket) => void,
  ): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      opened(webSocketDuplex(webSocket, options), webSocket),
    );
  }
}

export type DialOptions = LinkOptions & {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/**
 * Opens a WebSocket at a ws:, wss:, http: or https: address and returns its stream. Throws a Fault: with the code and
 * the sentence of the answer if the server refuses by a problem, else `not_reached`.
 */
export function dialWebSocket(address: string, options: DialOptions): Promise<Duplex> {
  const { headers, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const maskBuffer = Buffer.alloc(4);
  const webSocket = new WebSocket(address.replace(/^http/, "ws"), {
    headers,
    perMessageDeflate: false,
    maxPayload,
    handshakeTimeout: tunnelLimits.dialMs,
    // Masks protect proxies from pages; this is a program, and a mask of zeros costs no time.
    generateMask: () => maskBuffer.fill(0),
  });
  const aborted = (): void => {
    reject(signal?.reason);
    webSocket.terminate();
  };
  webSocket.once("open", () => resolve(webSocketDuplex(webSocket, options)));
  webSocket.on("error", (cause) => reject(notReached(address, cause)));
  webSocket.once("unexpected-response", (request, response) => {
    void refusal(response).then((fault) => {
      reject(fault);
      request.destroy();
    });
  });
  signal?.addEventListener("abort", aborted);
  if (signal?.aborted === true) aborted();
  return promise.finally(() => signal?.removeEventListener("abort", aborted));
}

async function refusal(response: IncomingMessage): Promise<Fault> {
  const status = response.statusCode ?? 0;
  const retry = status >= 500 || status === 429 ? "later" : "never";
  const { code, detail } = await problemIn(response);
  return new Fault(code ?? `http_${status}`, detail ?? `the server answered ${status}`, {
    retry,
    fields: { status },
  });
}

async function problemIn(
  response: IncomingMessage,
): Promise<{ readonly code?: string; readonly detail?: string }> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > tunnelLimits.frameBytesMax) break;
    }
    const problem: unknown = JSON.parse(text);
    if (typeof problem !== "object" || problem === null) return {};
    return {
      ...("code" in problem && typeof problem.code === "string" ? { code: problem.code } : {}),
      ...("detail" in problem && typeof problem.detail === "string"
        ? { detail: problem.detail }
        : {}),
    };
  } catch {
    return {};
  }
}

function notReached(address: string, cause: Error): Fault {
  const { host } = new URL(address);
  return new Fault("not_reached", `${host} was not reached: ${cause.message}`, {
    retry: "later",
    cause,
  });
}
