/** A simulated holder of a task's terminals, at the address of a simulated gateway. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { systemClock } from "@trainyard/kernel/system-clock";
import { encodeFrame, FrameDecoder, frameTypes } from "@trainyard/terminal";
import { WebSocketDoor } from "@trainyard/tunnel";

type FromClient = { readonly type: string; readonly text: string };

export type PlayedConnection = {
  readonly path: string;
  /** The messages of the client so far; `text` is the payload. */
  readonly got: readonly FromClient[];
  readonly send: (type: keyof typeof frameTypes, payload?: string | object) => void;
  /** Breaks the connection. */
  readonly cut: () => void;
};

export type PlayedHolder = {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly connections: readonly PlayedConnection[];
};

/** `answer` is called with each message of a client. */
export function playHolder(
  answer: (message: FromClient, connection: PlayedConnection) => void,
): PlayedHolder {
  const door = new WebSocketDoor();
  const connections: PlayedConnection[] = [];
  const upgrade: PlayedHolder["upgrade"] = (request, socket, head) =>
    door.accept(request, socket, head, { clock: systemClock }, (stream) => {
      const got: FromClient[] = [];
      const connection: PlayedConnection = {
        path: request.url ?? "",
        got,
        send(type, payload = "") {
          const text = typeof payload === "string" ? payload : JSON.stringify(payload);
          stream.write(encodeFrame(frameTypes[type], new TextEncoder().encode(text)));
          if (type === "ended" || type === "refused") stream.end();
        },
        cut: () => void stream.destroy(),
      };
      connections.push(connection);
      const decoder = new FrameDecoder();
      stream.on("error", () => {});
      stream.on("data", (chunk: Buffer) => {
        for (const { type, payload } of decoder.push(chunk)) {
          const message = { type: nameOf(type), text: new TextDecoder().decode(payload) };
          got.push(message);
          answer(message, connection);
        }
      });
    });
  return { upgrade, connections };
}

function nameOf(type: number): string {
  const [name = "unknown"] = Object.entries(frameTypes).find(([, known]) => known === type) ?? [];
  return name;
}
