/**
 * A Kafka broker that has no topic and knows at most one login, for what mock brokers cannot do. Its answers have the
 * bytes of Kafka's protocol: ApiVersions 0 to 2, Metadata 0, SaslHandshake 1, SaslAuthenticate 0.
 */
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

export type RefusingBroker = AsyncDisposable & {
  readonly address: string;
  /** The requests that it received, by the number of their API. */
  readonly requests: readonly number[];
};

const apis = { produce: 0, metadata: 3, saslHandshake: 17, apiVersions: 18, saslAuthenticate: 36 };
const unknownTopic = 3;
const loginFailed = 58;

export type RefusingBrokerOptions = {
  /** The options of a server with TLS; without them it has none. */
  readonly tls?: TlsOptions;
  /** The user and password that it takes by the mechanism PLAIN. */
  readonly login?: { readonly username: string; readonly password: string };
};

/** Starts it on 127.0.0.1. */
export async function startRefusingBroker({
  tls,
  login,
}: RefusingBrokerOptions = {}): Promise<RefusingBroker> {
  const requests: number[] = [];
  const sockets = new Set<Socket>();
  const known = login === undefined ? null : `\0${login.username}\0${login.password}`;
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const { port } = server.address() as AddressInfo;
    answer(socket, requests, (api, request) => bodyOf(api, request, { port, login: known }));
  };
  const server = tls === undefined ? createTcpServer(serve) : createTlsServer(tls, serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

type BodyOf = (api: number, request: Buffer) => Buffer;

function answer(socket: Socket, requests: number[], body: BodyOf): void {
  let received = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const request = received.subarray(4, 4 + received.readInt32BE(0));
      received = received.subarray(4 + received.readInt32BE(0));
      const api = request.readInt16BE(0);
      requests.push(api);
      const answered = Buffer.concat([int32(request.readInt32BE(4)), body(api, request)]);
      socket.write(Buffer.concat([int32(answered.length), answered]));
    }
  });
}

type Known = { readonly port: number; readonly login: string | null };

function bodyOf(api: number, request: Buffer, { port, login }: Known): Buffer {
  if (api === apis.apiVersions) return versions(request.readInt16BE(2));
  if (api === apis.saslHandshake) return Buffer.concat([int16(0), int32(1), text("PLAIN")]);
  if (api === apis.saslAuthenticate) {
    const isKnown = login !== null && request.toString().endsWith(login);
    if (isKnown) return Buffer.concat([int16(0), int16(-1), int32(0)]);
    return Buffer.concat([int16(loginFailed), text("Authentication failed"), int32(0)]);
  }
  const broker = Buffer.concat([int32(1), int32(1), text("127.0.0.1"), int32(port)]);
  const topics = topicsOf(request).map((name) =>
    Buffer.concat([int16(unknownTopic), text(name), int32(0)]),
  );
  return Buffer.concat([broker, int32(topics.length), ...topics]);
}

function versions(asked: number): Buffer {
  const known = [
    [apis.produce, 0, 3],
    [apis.metadata, 0, 0],
    [apis.saslHandshake, 1, 1],
    [apis.apiVersions, 0, 2],
    [apis.saslAuthenticate, 0, 0],
  ].map((one) => Buffer.concat(one.map(int16)));
  const throttle = asked === 0 ? [] : [int32(0)];
  return Buffer.concat([int16(0), int32(known.length), ...known, ...throttle]);
}

/** Reads the topics that Metadata 0 asks for. */
function topicsOf(request: Buffer): readonly string[] {
  let at = 8;
  const next = (): string => {
    const length = request.readInt16BE(at);
    at += 2 + length;
    return request.toString("utf8", at - length, at);
  };
  next();
  const count = request.readInt32BE(at);
  at += 4;
  return Array.from({ length: Math.max(0, count) }, next);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const text = (value: string): Buffer =>
  Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
