/**
 * A tunnel carries many byte streams over one: HTTP/2 with reversed roles. The end that dials serves, and the end that
 * was dialled opens streams with CONNECT, whose authority names what the stream reaches (ADR 97).
 *
 * Each stream has a window, so a writer whose reader has stopped waits, and the other streams do not. Both ends read
 * everything that arrives, and what the link has not carried yet is bounded by the link's window: therefore the duplex
 * below must take that many bytes without waiting (`linkOptions`). If it waited, both ends could wait for each other,
 * because Node reads no HTTP/2 frames while it waits for a write.
 *
 * A stream that fails at one end fails at the other. A closed link ends all streams of both ends.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  performServerHandshake,
  type ServerHttp2Stream,
  type SessionOptions,
} from "node:http2";
import type { Duplex } from "node:stream";
import { type Clock, Fault } from "@trainyard/kernel";
import { tunnelLimits } from "./limits.ts";
import { refusalHeaders, refusalOf } from "./refusal.ts";
import { splice } from "./splice.ts";

const { streamWindowBytes, linkWindowBytes, frameBytesMax, streamsMax } = tunnelLimits;

export type TunnelEnd = {
  /** Resolves when the link and all streams are closed. */
  readonly closed: Promise<void>;
  /** Closes the link with all streams. */
  readonly close: () => void;
};

export type Tunnel = TunnelEnd & {
  /**
   * Opens a stream to a target by its name. Throws the other end's refusal as a Fault, `too_many_streams`,
   * `tunnel_silent` after 15 s without an answer, or `tunnel_closed`.
   */
  readonly open: (name: string, signal?: AbortSignal) => Promise<Duplex>;
};

/** Opens the target of a stream. A Fault's code and sentence reach the end that asked. */
export type OpenTarget = (name: string, signal: AbortSignal) => Promise<Duplex>;

const settings = {
  enablePush: false,
  initialWindowSize: streamWindowBytes,
  maxFrameSize: frameBytesMax,
  maxConcurrentStreams: streamsMax,
};
const sessionOptions: SessionOptions = {
  settings,
  maxSessionMemory: tunnelLimits.memoryMegabytesMax,
  peerMaxConcurrentStreams: streamsMax,
};

/** Serves the streams that the other end opens. Each is joined with the stream that `open` returns. */
export function serveTunnel(link: Duplex, open: OpenTarget): TunnelEnd {
  const session = performServerHandshake(link, sessionOptions);
  session.setLocalWindowSize(linkWindowBytes);
  session.on("stream", (stream, headers) => {
    void serveStream(stream, headers[":authority"] ?? "", open);
  });
  return endOf(session, link);
}

async function serveStream(
  stream: ServerHttp2Stream,
  name: string,
  open: OpenTarget,
): Promise<void> {
  const gone = new AbortController();
  stream.on("error", () => {});
  stream.once("close", () => gone.abort());
  try {
    const target = await open(name, gone.signal);
    if (stream.destroyed) return void target.destroy();
    stream.respond({ ":status": 200 });
    await splice(stream, target);
  } catch (error) {
    if (!stream.destroyed) stream.respond(refusalHeaders(error), { endStream: true });
  }
}

/** Opens streams over a link whose other end serves. */
export function openTunnel(link: Duplex, { clock }: { readonly clock: Clock }): Tunnel {
  const session = connect("http://tunnel", { ...sessionOptions, createConnection: () => link });
  session.once("connect", () => session.setLocalWindowSize(linkWindowBytes));
  const open = new Set<ClientHttp2Stream>();
  return {
    ...endOf(session, link),
    async open(name, signal) {
      if (open.size >= streamsMax) throw tooMany();
      const stream = request(session, name);
      open.add(stream);
      stream.once("close", () => open.delete(stream));
      return answered(stream, clock, signal);
    },
  };
}

function request(session: ClientHttp2Session, name: string): ClientHttp2Stream {
  if (session.destroyed || session.closed) throw closedFault();
  return session.request({ ":method": "CONNECT", ":authority": name }, { endStream: false });
}

/** Returns the stream once the other end has accepted it. */
async function answered(
  stream: ClientHttp2Stream,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<
    IncomingHttpHeaders & IncomingHttpStatusHeader
  >();
  const aborted = (): void => reject(signal?.reason);
  const failed = (): void => reject(closedFault());
  using _timer = clock.timer(tunnelLimits.openMs, () => reject(silentFault()));
  stream.once("response", resolve);
  stream.on("error", failed);
  stream.once("close", failed);
  signal?.addEventListener("abort", aborted);
  if (signal?.aborted === true) aborted();
  try {
    const headers = await promise;
    if (headers[":status"] !== 200) throw refusalOf(headers);
    stream.off("error", failed);
    return inBytes(stream);
  } catch (error) {
    stream.close(constants.NGHTTP2_CANCEL);
    throw error;
  } finally {
    stream.off("close", failed);
    signal?.removeEventListener("abort", aborted);
  }
}

/**
 * Has a stream write texts as bytes. Node.js 24.21 overwrites the beginning of a text that it writes together with
 * bytes on an HTTP/2 stream with memory that it has freed, and its HTTP client writes heads of requests as texts.
 */
function inBytes(stream: Duplex): Duplex {
  const write = stream.write.bind(stream) as (chunk: unknown, ...more: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...more: unknown[]): boolean => {
    if (typeof chunk !== "string") return write(chunk, ...more);
    const [encoding, ...done] = typeof more[0] === "string" ? more : ["utf8", ...more];
    return write(Buffer.from(chunk, encoding as BufferEncoding), ...done);
  };
  return stream;
}

function endOf(session: Http2Session, link: Duplex): TunnelEnd {
  const { promise, resolve } = Promise.withResolvers<void>();
  session.on("error", () => {});
  link.on("error", () => {});
  session.once("close", () => {
    link.destroy();
    resolve();
  });
  link.once("close", () => session.destroy());
  return { closed: promise, close: () => session.destroy() };
}

const closedFault = (): Fault =>
  new Fault("tunnel_closed", "the tunnel was closed", { retry: "later" });

const silentFault = (): Fault =>
  new Fault("tunnel_silent", "the other end of the tunnel does not answer", { retry: "later" });

const tooMany = (): Fault =>
  new Fault("too_many_streams", `a tunnel has at most ${streamsMax} open streams`, {
    retry: "later",
  });
