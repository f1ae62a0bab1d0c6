/**
 * Handles commands over the bus: decodes, decides, answers. A service's table has the handler of each of its commands;
 * the messages are in proto/. A handler returns the answer message or a rejection, and throws Faults and Bugs.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import type { CommandHandler, CommandReply, ServedCommand } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type CommandName,
  type CommandReplyOf,
  type CommandRequestOf,
  type CommandService,
  commandMethod,
} from "@trainyard/contracts/command-services";
import { type Accepted, type Rejected, RejectedSchema } from "@trainyard/contracts/commands";
import {
  assert,
  Fault,
  isFault,
  isRejection,
  isTraceparent,
  type Rejection,
} from "@trainyard/kernel";
import { type CommitIdentity, CommitRefused, type Committed } from "../work/executor.ts";
import { serviceMeta } from "../work/correlation.ts";
import type { Logger } from "../logging.ts";
import type { WorkMetrics } from "../telemetry/work-metrics.ts";
import { during, noTracer, type Tracer } from "../tracing/tracer.ts";

/** How long a caller should wait before it retries when the service was unavailable. */
const retryAfterMs = 1_000;

const utf8 = new TextDecoder();
const bytes = new TextEncoder();

export type CommandContext = {
  /** The identity of this command's commit, with the caller and the trace. */
  readonly identity: CommitIdentity;
  readonly authid: string;
  /**
   * Throws a Fault `too_late` when the caller has given up: nobody reads the answer, and the caller may have asked
   * again. A command that reads much calls it between its reads.
   */
  readonly throwIfLate: () => void;
};

type CommandFunction = (request: never, context: CommandContext) => Promise<object>;

/** Handlers of commands by their names, as `serviceOf` and a partition serve them. */
export type CommandFunctions = Readonly<Record<string, CommandFunction>>;

/** The handlers of all commands of a service. The types of request and answer are derived from its proto. */
export type CommandTable<Service extends CommandService> = {
  readonly [Name in CommandName<Service>]: (
    request: CommandRequestOf<Service, Name>,
    context: CommandContext,
  ) => Promise<CommandReplyOf<Service, Name> | Rejection>;
};

/** Returns the usual answer: the commit's position and the stream that it wrote first. */
export function accepted(result: Committed | Rejection): Plain<Accepted> | Rejection {
  if (isRejection(result)) return result;
  return { position: result.position, stream: result.streams[0]?.stream ?? "" };
}

/** The observers of commands: the metrics of a service with a database, and its spans. */
export type CommandWatch = {
  readonly work?: Pick<WorkMetrics, "answering"> | undefined;
  readonly tracer?: Tracer | undefined;
};

/** Builds the handlers that `Bus.serve` needs. */
export function commandHandlers(
  service: string,
  functions: CommandFunctions,
  logger: Logger,
  { work, tracer = noTracer }: CommandWatch = {},
): Readonly<Record<string, CommandHandler>> {
  return Object.fromEntries(
    Object.entries(functions).map(([name, handle]) => [
      name,
      timed(name, traced(tracer, service, name, handlerOf(service, name, handle, logger)), work),
    ]),
  );
}

/** Returns the handler; a command with a traceparent is a span, which its commits name as their parent. */
function traced(
  tracer: Tracer,
  service: string,
  name: string,
  handle: CommandHandler,
): CommandHandler {
  if (!tracer.isOn) return handle;
  const attributes = { "rpc.system": "nats", "rpc.service": service, "rpc.method": name };
  return async (request) => {
    const { headers } = request;
    const facts = { kind: "server", attributes } as const;
    const span = tracer.under(`${service} ${name}`, headers.traceparent, facts);
    const { traceparent } = span;
    return during(
      span,
      () => handle({ ...request, headers: { ...headers, traceparent } }),
      ({ kind }) => ({ "trainyard.result": kind }),
    );
  };
}

function timed(
  name: string,
  handle: CommandHandler,
  work: Pick<WorkMetrics, "answering"> | undefined,
): CommandHandler {
  return async (request) => {
    const end = work?.answering(name);
    const reply = await handle(request);
    end?.();
    return reply;
  };
}

function handlerOf(
  service: string,
  name: string,
  handle: CommandFunction,
  logger: Logger,
): CommandHandler {
  const method = methodOf(service, name);
  const requests = codecOf<unknown>(method.input);
  const replies = codecOf<object>(method.output);
  return async (request) => {
    try {
      const message = requests.decode(utf8.decode(request.body)) as never;
      const answer = await handle(message, contextOf(service, request));
      if (isRejection(answer)) return rejectedReply(answer);
      return { kind: "ok", body: bytes.encode(replies.encode(answer)) };
    } catch (error) {
      return failedReply(error, name, logger);
    }
  };
}

function contextOf(service: string, { headers, isLate }: ServedCommand): CommandContext {
  const meta = serviceMeta(service, {
    correlationid: headers.correlationid,
    causationid: headers.commitId,
    authid: headers.authid,
    traceparent: isTraceparent(headers.traceparent) ? headers.traceparent : "",
  });
  const throwIfLate = (): void => {
    if (isLate()) throw new Fault("too_late", "the caller has given up", { retry: "later" });
  };
  return { identity: { commitId: headers.commitId, meta }, authid: headers.authid, throwIfLate };
}

function rejectedReply(rejection: Rejection): CommandReply {
  const rejected: Plain<Rejected> = {
    code: rejection.rejected,
    detail: rejection.detail,
    problems: rejection.problems ?? [],
  };
  return { kind: "rejected", body: bytes.encode(codecOf<object>(RejectedSchema).encode(rejected)) };
}

function failedReply(error: unknown, name: string, logger: Logger): CommandReply {
  if (isFault(error) && error.code === "undecodable") {
    return rejectedReply({ rejected: "invalid_request", detail: error.message });
  }
  if (isFault(error) && error.retry !== "never") {
    logger.warn({ err: error, command: name }, "command_unavailable");
    return { kind: "unavailable", detail: error.message, retryAfterMs };
  }
  if (error instanceof CommitRefused && error.code === "body_too_large") {
    logger.warn({ err: error, command: name }, "command_too_large");
    const detail = `${name} would record more than the log accepts: divide the request: ${error.message}`;
    return rejectedReply({ rejected: "too_large", detail });
  }
  logger.error({ err: error, command: name }, "command_failed");
  return rejectedReply({
    rejected: "internal",
    detail: "the service failed; its log has the details",
  });
}

/** Decodes the rejection in a reply. */
export function readRejected(body: Uint8Array): Rejection {
  const { code, detail, problems } = codecOf<Plain<Rejected>>(RejectedSchema).decode(
    utf8.decode(body),
  );
  return { rejected: code, detail, problems };
}

/** Encodes the request of a command. */
export function encodeRequest<Service extends CommandService, Name extends CommandName<Service>>(
  service: Service,
  name: Name,
  message: CommandRequestOf<Service, Name>,
): Uint8Array {
  return bytes.encode(codecOf<object>(methodOf(service, name).input).encode(message));
}

/** Decodes the answer to a command that was not rejected. */
export function decodeReply<Service extends CommandService, Name extends CommandName<Service>>(
  service: Service,
  name: Name,
  body: Uint8Array,
): CommandReplyOf<Service, Name> {
  const codec = codecOf<CommandReplyOf<Service, Name>>(methodOf(service, name).output);
  return codec.decode(utf8.decode(body));
}

function methodOf(service: string, name: string): DescMethod {
  const method = commandMethod(service, name);
  assert(method !== undefined, `${service} has the command ${name}`);
  return method;
}
