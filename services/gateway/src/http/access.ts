/**
 * Decides about a request by its headers, before its body is read: who the caller is, whether the call is allowed,
 * whether the read model can answer, and whether memory is left for the body.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { CallFacts, Route } from "@trainyard/contracts/routes";
import { BodyBudget, type HeldBody } from "@trainyard/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Caller, type Credentials, countedAs, type RunCaller, nobody } from "./caller.ts";
import { httpLimits } from "./limits.ts";
import { refuseCrossOrigin, refuseForeignCookie } from "./origin.ts";
import { noRights } from "./owner-runs.ts";
import { Problem, unavailable } from "./problem.ts";
import { sessionOfHeaders } from "./session-cookie.ts";
import type { TrustedProxies } from "../rates/client-address.ts";
import type { Origin, Rates } from "../rates/rates.ts";

export type AccessDeps = {
  readonly rates: Pick<Rates<Caller>, "counting">;
  readonly proxies: TrustedProxies;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
  /** Returns whether the trial or the task of the run has ended. */
  readonly hasEnded: (run: RunCaller) => Promise<boolean>;
  /** Throws a Problem if the run ended so long ago that it delivers nothing more. */
  readonly requireInTime: (run: RunCaller) => Promise<void>;
  /** Returns the id of the cluster, which names its session cookies. */
  readonly clusterId: () => string;
  /** The memory of bodies and gRPC messages. */
  readonly bodies: BodyBudget;
  /** Returns why the read model cannot be read; null if it can. */
  readonly unreadable: () => string | null;
};

/** Returns the memory of a gateway's bodies. */
export const gatewayBodies = (): BodyBudget =>
  new BodyBudget({
    smallBytes: httpLimits.largeBodyBytes,
    smallBytesMax: httpLimits.smallBodiesBytesMax,
    bytesMax: httpLimits.largeBodiesBytesMax,
  });

export type Admitted = { readonly caller: Caller; readonly body: HeldBody };

/** Returns the caller. Throws a Problem if the call is not allowed or cannot be answered at present. */
export async function callerOf(
  deps: AccessDeps,
  { facts, method }: Pick<Route, "facts" | "method">,
  credentials: Credentials,
  origin: Origin,
): Promise<Caller> {
  const known = await deps.rates.counting(() => admitted(deps, facts, credentials), origin);
  const caller = known.kind === "run" ? await runAsAllowed(deps, facts, known) : known;
  const isRead = method === "GET" || facts.postedRead;
  if (isRead && !facts.withoutReadModel) {
    const why = deps.unreadable();
    if (why !== null) throw unavailable(why);
  }
  return caller;
}

/** Returns the address of a request's client. */
export function clientOf(
  { socket, headers }: IncomingMessage,
  { proxies }: Pick<AccessDeps, "proxies">,
): string {
  const forwardedFor = headers["x-forwarded-for"];
  return proxies.clientOf(socket.remoteAddress ?? "", forwardedFor?.toString());
}

/** Returns a request's credentials. Throws a Problem for a cookie that another site may have caused to be sent. */
function credentialsIn(
  headers: IncomingHttpHeaders,
  session: string | undefined,
  method: string,
): Credentials {
  const { authorization } = headers;
  if (authorization === undefined && session !== undefined) refuseForeignCookie(method, headers);
  return { authorization, session };
}

/**
 * Returns the caller that a run is in a call. The run of a task is itself in the calls of such runs, and in others the
 * user that it may be.
 */
async function runAsAllowed(
  { hasEnded, requireInTime }: AccessDeps,
  { afterTrial, forOwner, forRuns, forTasks }: CallFacts,
  caller: RunCaller,
): Promise<Caller> {
  if (caller.task !== null && !forTasks) {
    if (forOwner) return caller.asOwner();
    throw noRights(caller);
  }
  if (!forRuns) throw new Problem(403, "not_for_runs", "a run's token does not allow this call");
  if (!(await hasEnded(caller))) return caller;
  if (afterTrial) {
    await requireInTime(caller);
    return caller;
  }
  const [kind, id] = caller.task === null ? ["trial", caller.trial] : ["task", caller.task];
  const detail = `${kind} ${id} has ended: the token of its run only delivers what the run left`;
  throw new Problem(403, `${kind}_ended`, detail);
}

async function admitted(
  { authenticate }: AccessDeps,
  { open, signsIn }: CallFacts,
  { authorization, session }: Credentials,
): Promise<Caller> {
  if (open) return nobody;
  if (!signsIn) return authenticate({ authorization, session });
  return authorization === undefined ? nobody : authenticate({ authorization, session: undefined });
}

export class Access {
  readonly #deps: AccessDeps;
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
    const { headers, method } = request;
    const session = sessionOfHeaders(request.headers, this.#deps.clusterId());
    const credentials = credentialsIn(headers, session, method);
    const caller = await callerOf(this.#deps, route, credentials, {
      address: clientOf(request.raw, this.#deps),
      setHeaders: (limits) => void reply.headers(limits),
    });
    const owner = { name: countedAs(caller), cut: () => void reply.raw.destroy() };
    const body = this.#deps.bodies.take(request.headers, bodyLimit, owner);
    if (body === null) {
      const detail = "the bodies of other requests fill the memory for them; try again";
      throw new Problem(503, "busy", detail);
    }
    this.#admitted.set(request, { caller, body });
    if (reply.raw.destroyed) body.closed();
    else reply.raw.once("close", () => body.closed());
  }

  /**
   * Returns the caller of an upgrade, for which no hook of Fastify runs. A stream carries input, so its cookie needs an
   * origin like that of a change.
   */
  async callerOfUpgrade(request: IncomingMessage): Promise<Caller> {
    const { headers } = request;
    refuseCrossOrigin(headers);
    const { authenticate, clusterId, rates } = this.#deps;
    const credentials = credentialsIn(headers, sessionOfHeaders(headers, clusterId()), "POST");
    const address = clientOf(request, this.#deps);
    return rates.counting(() => authenticate(credentials), { address });
  }

  of(request: FastifyRequest): Admitted {
    const admitted = this.#admitted.get(request);
    if (admitted === undefined) throw new Problem(500, "internal", "the request was not admitted");
    return admitted;
  }
}
