/**
 * A server in front of a cluster's gateway that answers some streams itself, as server-sent events in the gateway's
 * form, and forwards all other requests. A browser cannot distinguish it from the gateway.
 */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { StreamedMessage } from "@trainyard/client";
import { codecOf, type ReplyOf, type StreamName } from "@trainyard/contracts";
import { gatewayRoutes } from "@trainyard/contracts/routes";

export type Replay<Name extends StreamName> = {
  readonly call: Name;
  /** The end of a request's path: the stream answers requests whose path ends with it. */
  readonly path: string;
  /** Called for each request with its body; the stream ends when the call returns or the reader disconnects. */
  readonly run: (body: string, stream: ReplayStream<ReplyOf<Name>>) => Promise<void>;
};

export type ReplayStream<Message> = {
  /** Sends messages; resolves once the connection can take more. */
  readonly send: (...messages: readonly StreamedMessage<Message>[]) => Promise<void>;
  /** Aborts when the reader disconnects. */
  readonly signal: AbortSignal;
};

export type Relay = AsyncDisposable & { readonly address: string };

export async function startRelay<Name extends StreamName>(
  api: string,
  replay: Replay<Name>,
): Promise<Relay> {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (path.endsWith(replay.path)) void answer(replay, request, response);
    else passOn(api, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer<Name extends StreamName>(
  { call, run }: Replay<Name>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const route = gatewayRoutes().find((one) => one.call === call);
  if (route === undefined) throw new Error(`${call} is not a call of the API`);
  const codec = codecOf<ReplyOf<Name>>(route.reply);
  const body = await text(request);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  await run(body, {
    signal: gone.signal,
    async send(...messages: readonly StreamedMessage<ReplyOf<Name>>[]) {
      const events = messages.map(({ id, message }) => {
        const data = JSON.stringify(codec.toFullJson(message));
        return `${id === "" ? "" : `id: ${id}\n`}data: ${data}\n\n`;
      });
      if (gone.signal.aborted || response.write(events.join(""))) return;
      await once(response, "drain", { signal: gone.signal }).catch(() => undefined);
    },
  });
  response.end();
}

/** Forwards a request; the Host remains the relay's, so that it matches the Origin of pages served by the relay. */
function passOn(api: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = "GET", headers } = request;
  const passed = requestOf(`${api}${request.url ?? ""}`, { method, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
}
