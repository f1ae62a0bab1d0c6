/**
 * Admits calls before their first message is read, and limits the memory and time of their messages. A call's memory
 * counts until its stream is closed, which happens soon after its end, whatever its client does.
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from "@grpc/grpc-js";
import { runtimeLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { requestIdOf } from "../request-id.ts";
import { HeldBody } from "../service/body-budget.ts";
import { Arrivals } from "./arrivals.ts";
import type { GrpcServerDeps } from "./server.ts";
import { requestIdKey, statusOf } from "./status.ts";

export type Admitted<Caller> = {
  readonly caller: Caller;
  readonly place: HeldBody;
  readonly arrivals: Arrivals;
  readonly requestId: string;
  readonly peer: string;
};

/** Admits each call by its metadata. Health and reflection need no token, and their messages are small. */
export function admission<Caller>(
  deps: GrpcServerDeps<Caller>,
  admitted: WeakMap<Metadata, Admitted<Caller>>,
): ServerInterceptor {
  const names = new Map(
    deps.services.flatMap(({ methods }) =>
      methods.map(({ desc, definition }) => [definition.path, desc.localName] as const),
    ),
  );
  return (method, call) => {
    const isDialog = method.requestStream && method.responseStream;
    const arriving = new ArrivingCall(deps, call, isDialog);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, proceed) => {
            arriving.requestId = requestIdOf(textOf(metadata, requestIdKey));
            const name = names.get(method.path);
            if (name === undefined) {
              arriving.isOpenToAll();
              return proceed(metadata);
            }
            arriving
              .admit(name, metadata)
              .then((known) => {
                if (known === null) return;
                admitted.set(metadata, known);
                proceed(metadata);
              })
              .catch((error: unknown) => arriving.refuse(error));
          },
          onReceiveHalfClose: (proceed) => {
            arriving.limit(null);
            proceed();
          },
          // The end of every call whose client has read its answer.
          onCancel: () => arriving.ended(),
        });
      },
      sendMessage: (message, next) => {
        if (!method.responseStream) arriving.answered();
        next(message);
      },
      sendStatus: (sent, next) => {
        arriving.answered();
        next(sent);
      },
    });
  };
}

class ArrivingCall<Caller> {
  requestId = "";
  readonly #deps: GrpcServerDeps<Caller>;
  readonly #call: ServerInterceptingCallInterface;
  /** Whether messages are answered while others arrive. Otherwise all of them are one request. */
  readonly #isDialog: boolean;
  readonly #stream: ServerHttp2Stream;
  #place: HeldBody | undefined;
  #arrivals: Arrivals | undefined;
  #due: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #isOver = false;

  constructor(
    deps: GrpcServerDeps<Caller>,
    call: ServerInterceptingCallInterface,
    isDialog: boolean,
  ) {
    this.#deps = deps;
    this.#call = call;
    this.#isDialog = isDialog;
    this.#stream = streamOf(call);
    this.#stream.once("close", () => {
      clearTimeout(this.#due);
      this.#arrivals?.closed();
    });
    this.limit(isDialog ? "pause" : "message");
  }

  refuse(error: unknown): void {
    const { requestId } = this;
    this.#call.sendStatus(statusOf(this.#deps.problemOf(error, requestId), requestId));
  }

  /** Limits the time until a message or a request is whole, or until a message begins. */
  limit(what: "message" | "pause" | null): void {
    if (this.#isAnswered) return;
    const { requestMs = runtimeLimits.requestMs, idleMs = runtimeLimits.grpcIdleMs } = this.#deps;
    if (what === null) clearTimeout(this.#due);
    else if (what === "message") this.#after(requestMs, () => this.refuse(tooLate(requestMs)));
    else this.#after(idleMs, () => this.refuse(tooQuiet(idleMs)));
  }

  /** Limits the time until the client has read the answer, or the rest of it. */
  answered(): void {
    if (this.#isAnswered || this.#stream.destroyed) return;
    this.#isAnswered = true;
    const { stalledMs = runtimeLimits.answerStalledMs } = this.#deps;
    this.#after(stalledMs, () => this.#stream.close(constants.NGHTTP2_CANCEL));
  }

  isOpenToAll(): void {
    this.#watch(runtimeLimits.grpcOpenMessageBytesMax, () => new HeldBody(() => {}));
  }

  /** Returns null if the call is over meanwhile. Throws the problem if it is refused. */
  async admit(name: string, metadata: Metadata): Promise<Admitted<Caller> | null> {
    const { admit, enter, nameOf, bodies, messageBytesMax } = this.#deps;
    const peer = this.#stream.session?.socket.remoteAddress ?? "";
    const caller = await admit(name, {
      authorization: textOf(metadata, "authorization"),
      peer,
      forwardedFor: textOf(metadata, "x-forwarded-for"),
    });
    if (this.#isOver) return null;
    const place = enter?.(name, caller) ?? new HeldBody(() => {});
    this.#place = place;
    const owner = { name: nameOf(caller), cut: () => this.#cut() };
    const arrivals = this.#watch(messageBytesMax, (bytes) => bodies.reserve(bytes, owner));
    return { caller, place, arrivals, requestId: this.requestId, peer };
  }

  ended(): void {
    this.#isOver = true;
    clearTimeout(this.#due);
    this.#place?.closed();
    const { slowMs = runtimeLimits.grpcSlowMs } = this.#deps;
    // A client may leave its side open, and with it what has arrived of a message.
    if (this.#stream.destroyed) return;
    this.#after(slowMs, () => this.#stream.close(constants.NGHTTP2_CANCEL));
  }

  #watch(bytesMax: number, reserve: (bytes: number) => HeldBody | null): Arrivals {
    const arrivals = new Arrivals({
      bytesMax,
      reserve: (bytes) => {
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        const body = reserve(bytes);
        if (body === null) throw tooFull();
        return body;
      },
      begun: () => this.#isDialog && this.limit("message"),
      whole: () => this.#isDialog && this.limit("pause"),
    });
    // Before the library's own listener, so that it keeps nothing of a message that is refused.
    this.#stream.prependListener("data", (chunk: Buffer) => {
      try {
        if (!this.#isOver) arrivals.read(chunk);
      } catch (error) {
        if (this.#stream.headersSent) this.#cut();
        else this.refuse(error);
      }
    });
    this.#arrivals = arrivals;
    return arrivals;
  }

  /** Closes the stream at once; a status would have to wait until the client has read what was sent before. */
  #cut(): void {
    this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#due);
    this.#due = setTimeout(act, ms);
  }
}

type OwnFields = {
  readonly stream?: ServerHttp2Stream;
  /** The call of an interceptor that is nearer to the client. */
  readonly nextCall: ServerInterceptingCallInterface;
};

/** Returns the stream of a call, a private field: the public part of the library shows only whole messages. */
function streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream, nextCall } = call as unknown as OwnFields; // The library's types hide these fields.
  return stream ?? streamOf(nextCall);
}

export const textOf = (metadata: Metadata, name: string): string | undefined => {
  const [value] = metadata.get(name);
  return value === undefined ? undefined : String(value);
};

const tooLate = (ms: number): Problem =>
  new Problem(503, "request_too_slow", `the request did not arrive within ${ms} ms`);

const tooQuiet = (ms: number): Problem =>
  new Problem(503, "stream_idle", `no message arrived for ${ms} ms; open the stream again`);

const tooLarge = (bytesMax: number): Problem =>
  new Problem(413, "body_too_large", `a message has at most ${bytesMax} bytes`);

const tooFull = (): Problem =>
  new Problem(503, "busy", "the messages of other requests fill the memory for them; try again");
