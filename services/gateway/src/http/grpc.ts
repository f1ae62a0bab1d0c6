/** The gRPC interface to metrics. It uses the handlers, tokens and limits of the HTTP calls with the same names. */
import { randomUUID } from "node:crypto";
import { ExperimentService, MetricStreamService } from "@trainyard/contracts/api";
import { type CallFacts, Cost, routesOf } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import type { Listening, Logger, Registry, Serving } from "@trainyard/runtime";
import { type GrpcContext, grpcService, startGrpcServer } from "@trainyard/runtime/grpc";
import { type AccessDeps, callerOf } from "./access.ts";
import { asProblem } from "./as-problem.ts";
import { type Caller, countedAs } from "./caller.ts";
import type { Costs } from "./costs.ts";
import { httpLimits } from "./limits.ts";
import type { OpenCalls } from "./open-calls.ts";
import { Problem } from "./problem.ts";
import type { Handlers, RequestContext } from "./request-context.ts";

export type GrpcFace = AccessDeps & {
  readonly handlers: Handlers;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly openCalls: OpenCalls;
  readonly costs: Costs;
};

const factsByCall = new Map<string, CallFacts>(
  routesOf([ExperimentService, MetricStreamService]).map(({ call, facts }) => [call, facts]),
);

const costOf = (name: string): Cost => factsByCall.get(name)?.cost ?? Cost.UNSPECIFIED;

export function startGrpc(
  face: GrpcFace,
  { readiness, draining }: Serving,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const { unary, streams } = face.handlers;
  const inTurn =
    <Asked, Answer>(name: string, call: (asked: Asked, own: RequestContext) => Promise<Answer>) =>
    (asked: Asked, context: GrpcContext<Caller>): Promise<Answer> => {
      const own = contextOf(context);
      return face.costs.during(costOf(name), own, () => call(asked, own));
    };
  const metrics = grpcService<typeof ExperimentService, Caller>(ExperimentService, {
    listTrialMetrics: inTurn("listTrialMetrics", unary.listTrialMetrics),
    queryMetrics: inTurn("queryMetrics", unary.queryMetrics),
    listTrialMetricNames: inTurn("listTrialMetricNames", unary.listTrialMetricNames),
  });
  const stream = grpcService<typeof MetricStreamService, Caller>(MetricStreamService, {
    followMetrics: (request, context) =>
      whileAdmitted(face, context, (own) => streams.followMetrics(request, own)),
    followTrialMetrics: (request, context) =>
      whileAdmitted(face, context, (own) => streams.followTrialMetrics(request, own)),
  });
  return startGrpcServer(
    {
      services: [metrics, stream],
      admit: async (name, authorization) => {
        const facts = factsByCall.get(name);
        assert(facts !== undefined, `${name} is a call of a gRPC service`);
        return callerOf(face, { facts, method: "GET" }, { authorization, session: undefined });
      },
      problemOf: (error) => asProblem(error, face.logger, randomUUID()),
      readiness,
      draining,
      registry: face.registry,
      bodies: face.bodies,
      nameOf: countedAs,
      messageBytesMax: httpLimits.grpcMessageBytesMax,
    },
    address,
  );
}

function contextOf({ caller, traceparent, signal }: GrpcContext<Caller>): RequestContext {
  const commitId = randomUUID();
  const none = {
    lastEventId: undefined,
    ifMatch: undefined,
    address: "",
    origin: "",
    cookie: null,
  };
  return { caller, commitId, traceparent, signal, ...none };
}

type Messages = ReturnType<Handlers["streams"]["followMetrics"]>;
type MessageOf<Items> =
  Items extends AsyncIterable<{ readonly message: infer Message }> ? Exclude<Message, null> : never;

/**
 * Streams messages until the caller's token ends. The position, which is the event's id over HTTP, is in the message.
 */
async function* whileAdmitted(
  { openCalls, costs }: GrpcFace,
  context: GrpcContext<Caller>,
  start: (context: RequestContext) => Messages,
): AsyncGenerator<MessageOf<Messages>> {
  using open = await openCalls.open(context.caller);
  const signal = AbortSignal.any([context.signal, open.signal]);
  const messages = start(contextOf({ ...context, signal }));
  for await (const { message } of costs.opened(Cost.STREAM, context.caller, messages)) {
    if (message !== null) yield message;
  }
  if (open.signal.aborted) throw new Problem(401, "no_token", "this token is not valid any more");
}
