/**
 * What is decided of a request by its headers, before any of its body is read: who asks, whether that one may, whether the
 * read model can answer, and whether there is room for the body.
 */
import type { CallName, Route } from "@trainyard/contracts";
import { BodyBudget, type HeldBody } from "@trainyard/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { gatewayLimits } from "../limits.ts";
import type { Caller } from "./caller.ts";
import { Problem, unavailable } from "./problem.ts";

export type AccessDeps = {
  readonly authenticate: (authorization: string | undefined) => Promise<Caller>;
  /** Null where the read model may be read, else why not. */
  readonly unreadable: () => string | null;
};

/** Routes that a run may call with its own token; all others are for people. */
const runRoutes: ReadonlySet<CallName> = new Set<CallName>([
  "getSignals",
  "recordEnvironment",
  "declareCheckpoint",
  "completeCheckpoint",
  "failCheckpoint",
  "readCheckpointAhead",
  "planUpload",
  "planTensorBoard",
  "planDownload",
  "planFiles",
  "getCheckpoint",
  "registerModelVersion",
]);

/** Open to whoever can reach the port: says nothing of what is stored. */
const openRoutes: ReadonlySet<CallName> = new Set<CallName>(["getVersion"]);

/** Reads that are answered by the log, or by other services. */
const readsWithoutReadModel: ReadonlySet<CallName> = new Set<CallName>([
  "getVersion",
  "listParked",
  "watchEvents",
  "getSignals",
  "planDownload",
  "planFiles",
  "listViews",
  "listPools",
  "getPool",
  "listJobs",
]);

/** Reads whose question is too large for a query. */
const postedReads: ReadonlySet<CallName> = new Set<CallName>(["watch"]);

const nobody: Caller = { kind: "user", authid: "" };

export type Admitted = { readonly caller: Caller; readonly body: HeldBody };

/** Throws the Problem of somebody who may not call, or cannot be answered now. */
export async function callerOf(
  deps: AccessDeps,
  { call: name, method }: Pick<Route, "call" | "method">,
  authorization: string | undefined,
): Promise<Caller> {
  const caller = openRoutes.has(name) ? nobody : await deps.authenticate(authorization);
  if (caller.kind === "run" && !runRoutes.has(name)) {
    throw new Problem(403, "not_for_runs", "a run's token does not allow this call");
  }
  const isRead = method === "GET" || postedReads.has(name);
  if (isRead && !readsWithoutReadModel.has(name)) {
    const why = deps.unreadable();
    if (why !== null) throw unavailable(why);
  }
  return caller;
}

export class Access {
  readonly #deps: AccessDeps;
  readonly #bodies = new BodyBudget({
    smallBytes: gatewayLimits.largeBodyBytes,
    bytesMax: gatewayLimits.largeBodiesBytesMax,
  });
  readonly #admitted = new WeakMap<FastifyRequest, Admitted>();

  constructor(deps: AccessDeps) {
    this.#deps = deps;
  }

  async admit(
    route: Route,
    bodyLimit: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const caller = await callerOf(this.#deps, route, request.headers.authorization);
    const body = this.#bodies.take(request.headers, bodyLimit);
    if (body === null) {
      const detail = "too many large requests are in progress; try again";
      throw new Problem(503, "busy", detail);
    }
    this.#admitted.set(request, { caller, body });
    if (reply.raw.destroyed) body.closed();
    else reply.raw.once("close", () => body.closed());
  }

  of(request: FastifyRequest): Admitted {
    const admitted = this.#admitted.get(request);
    if (admitted === undefined) throw new Problem(500, "internal", "the request was not admitted");
    return admitted;
  }
}
