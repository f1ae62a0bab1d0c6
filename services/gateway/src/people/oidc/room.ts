/**
 * Signs people in by identity providers. A sign-in begins at /auth/oidc/PROVIDER and is bound to its browser by a
 * cookie; another browser's state, or a state that was used, opens nothing. A signed-in person joins an identity by the
 * same flow from …/join, and confirms it.
 */
import type { IncomingHttpHeaders } from "node:http";
import { fastifyCookie } from "@fastify/cookie";
import { authidOf } from "@trainyard/access";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Backend } from "../../backend.ts";
import { clientOf } from "../../http/access.ts";
import { asProblem } from "../../http/as-problem.ts";
import { type Caller, type Credentials, nobody } from "../../http/caller.ts";
import { refuseForeignCookie } from "../../http/origin.ts";
import { Problem } from "../../http/problem.ts";
import { cameByHttps, sessionCookie, sessionOfHeaders } from "../../http/session-cookie.ts";
import type { Sessions } from "../../http/sessions.ts";
import type { TrustedProxies } from "../../rates/client-address.ts";
import type { Rates } from "../../rates/rates.ts";
import type { Claims } from "./claims.ts";
import type { ProviderSettings } from "./config.ts";
import { Identities } from "./identities.ts";
import { oidcLimits } from "./limits.ts";
import { ownPage } from "./own-page.ts";
import { pagePolicy, type SignInPage, signInPage } from "./pages.ts";
import { Provider } from "./provider.ts";
import { newSecret, type SignIn, SignIns } from "./sign-ins.ts";

export type OidcDoor = {
  readonly sessions: Sessions;
  readonly clusterId: () => string;
  readonly rates: Rates<Caller>;
  readonly proxies: TrustedProxies;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
};

type Visit = { readonly request: FastifyRequest; readonly reply: FastifyReply };
type Begun = Pick<SignIn, "page" | "joining" | "identity">;

/** Returns what registers the routes. Without providers there are none. */
export function oidcRoom(
  backend: Backend,
  door: OidcDoor,
  providers: readonly ProviderSettings[],
): (server: FastifyInstance) => void {
  if (providers.length === 0) return () => {};
  const room = new OidcRoom(backend, door, providers);
  return (server) => void server.register(async (routes) => room.register(routes));
}

class OidcRoom {
  readonly #door: OidcDoor;
  readonly #backend: Backend;
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #signIns: SignIns;
  readonly #identities: Identities;

  constructor(backend: Backend, door: OidcDoor, providers: readonly ProviderSettings[]) {
    this.#backend = backend;
    this.#door = door;
    this.#providers = new Map(providers.map((one) => [one.id, new Provider(one, backend.parts)]));
    this.#signIns = new SignIns(backend.parts.pool);
    this.#identities = new Identities(backend);
  }

  register(routes: FastifyInstance): void {
    const { rates } = this.#door;
    routes.addHook("onRequest", async (request, reply) => {
      const address = clientOf(request.raw, this.#door);
      const setHeaders = (limits: Readonly<Record<string, string>>) => void reply.headers(limits);
      await rates.counting(async () => nobody, { address, setHeaders });
    });
    routes.setErrorHandler((error, request, reply) => {
      const problem = asProblem(error, this.#backend.parts.logger, request.id);
      reply.status(problem.status);
      const { retryAfterSeconds } = problem;
      if (retryAfterSeconds !== null) reply.header("retry-after", retryAfterSeconds);
      return sendPage(reply, { title: "Not signed in", text: sentence(problem), confirm: null });
    });
    // The form of the confirmation has no fields.
    const form = "application/x-www-form-urlencoded";
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser(form, { parseAs: "string", bodyLimit: 0 }, async () => null);
    const path = "/auth/oidc/:provider";
    routes.get(path, (request, reply) => this.#begin({ request, reply }));
    routes.get(`${path}/callback`, (request, reply) => this.#callback({ request, reply }));
    routes.get(`${path}/join`, (request, reply) => this.#beginToJoin({ request, reply }));
    routes.post(`${path}/join/:state`, (request, reply) => this.#confirm({ request, reply }));
  }

  async #begin(visit: Visit): Promise<FastifyReply> {
    const page = ownPage(queryOf(visit, "page"));
    return this.#toProvider(visit, { page, joining: null, identity: null });
  }

  async #beginToJoin(visit: Visit): Promise<FastifyReply> {
    const page = ownPage(queryOf(visit, "page"));
    return this.#toProvider(visit, {
      page,
      joining: await this.#freshPerson(visit),
      identity: null,
    });
  }

  async #toProvider(visit: Visit, begun: Begun): Promise<FastifyReply> {
    const provider = this.#providerOf(visit);
    const { state, nonce, verifier } = newSecrets();
    const url = await provider.begin(redirectUri(visit), { state, nonce, verifier });
    await this.#store(visit, state, { ...begun, provider: provider.settings.id, nonce, verifier });
    return visit.reply.redirect(url.href, 303);
  }

  async #callback(visit: Visit): Promise<FastifyReply> {
    const { request } = visit;
    const provider = this.#providerOf(visit);
    const state = queryOf(visit, "state");
    const signIn = await this.#take(visit, state);
    if (signIn.provider !== provider.settings.id || signIn.identity !== null) throw notBegun();
    const callback = new URL(redirectUri(visit));
    callback.search = new URL(request.url, callback).search;
    const claims = await provider.finish(callback, { ...signIn, state });
    return signIn.joining === null
      ? this.#signIn(visit, provider, claims, signIn.page)
      : this.#ask(visit, provider, claims, signIn);
  }

  async #signIn(
    { request, reply }: Visit,
    { settings }: Provider,
    claims: Claims,
    page: string,
  ): Promise<FastifyReply> {
    const { sessions, clusterId } = this.#door;
    const user = await this.#identities.signIn(claims, settings);
    const { secret } = await sessions.openOfIdentity(user, oidcLimits.sessionHours);
    sessionCookie(request, reply, clusterId()).set(secret);
    return reply.redirect(page, 303);
  }

  /** Asks the person whether the identity joins its user: another site may have begun this at the provider. */
  async #ask(
    visit: Visit,
    { settings }: Provider,
    claims: Claims,
    { page, joining }: SignIn,
  ): Promise<FastifyReply> {
    const { state, nonce, verifier } = newSecrets();
    const identity = { issuer: claims.iss, subject: claims.sub };
    const provider = settings.id;
    await this.#store(visit, state, { page, joining, identity, provider, nonce, verifier });
    const shown = [claims[settings.nameClaim], claims.sub].find((one) => typeof one === "string");
    const name = this.#backend.parts.directory.nameOf(authidOf(joining?.user ?? ""));
    return sendPage(visit.reply, {
      title: "Add this sign-in?",
      text: `${String(shown)} of ${settings.name} could then sign in as ${name}. Confirm only if this is you.`,
      confirm: { path: `/auth/oidc/${provider}/join/${state}`, button: `Add to ${name}` },
    });
  }

  async #confirm(visit: Visit): Promise<FastifyReply> {
    const { request, reply } = visit;
    const person = await this.#freshPerson(visit);
    const { state } = request.params as { readonly state: string };
    const { identity, joining, page } = await this.#take(visit, state);
    if (identity === null || joining?.session !== person.session) throw notBegun();
    await this.#identities.join(person.user, identity, authidOf(person.user));
    return reply.redirect(page, 303);
  }

  /** Returns the session and the person of a request. Throws a Problem unless the person has just signed in. */
  async #freshPerson({ request }: Visit): Promise<NonNullable<SignIn["joining"]>> {
    const { headers, method } = request;
    const { sessions, authenticate, clusterId } = this.#door;
    refuseForeignCookie(method, headers);
    const session = sessionOfHeaders(headers, clusterId());
    const caller = await authenticate({ authorization: undefined, session });
    const isPerson = caller.kind === "user" && caller.token === "" && caller.session !== null;
    const digest = isPerson ? caller.session?.digest : undefined;
    if (digest === undefined || !(await sessions.isFresh(digest, oidcLimits.freshMinutes))) {
      const detail = `sign in with your name, and add the other sign-in within ${oidcLimits.freshMinutes} minutes`;
      throw new Problem(403, "session_not_fresh", detail);
    }
    return { session: digest, user: caller.kind === "user" ? caller.user : "" };
  }

  async #store({ request, reply }: Visit, state: string, signIn: SignIn): Promise<void> {
    const browser = newSecret();
    const address = clientOf(request.raw, this.#door);
    await this.#signIns.begin({ state, browser }, signIn, address);
    const { name, options } = this.#cookieOf(request.headers, state);
    reply.setCookie(name, browser, { ...options, maxAge: oidcLimits.minutes * 60 });
  }

  async #take({ request, reply }: Visit, state: string): Promise<SignIn> {
    const { name, options } = this.#cookieOf(request.headers, state);
    const browser = fastifyCookie.parse(request.headers.cookie ?? "")[name];
    if (browser === undefined) throw notBegun();
    reply.clearCookie(name, options);
    return this.#signIns.take({ state, browser });
  }

  /** Returns the cookie of a sign-in. Its name has a part of the state, so that two tabs sign in at once. */
  #cookieOf(headers: IncomingHttpHeaders, state: string) {
    const secure = cameByHttps(headers);
    const part = state.replace(/[^A-Za-z0-9_-]/g, "").slice(0, 8);
    const name = `${secure ? "__Host-" : ""}trainyard_oidc_${this.#door.clusterId()}_${part}`;
    return { name, options: { path: "/", httpOnly: true, sameSite: "lax", secure } as const };
  }

  #providerOf({ request }: Visit): Provider {
    const { provider: id } = request.params as { readonly provider: string };
    const provider = this.#providers.get(id);
    if (provider !== undefined) return provider;
    throw new Problem(
      404,
      "no_such_provider",
      "this cluster has no identity provider of this name",
    );
  }
}

const newSecrets = () => ({ state: newSecret(), nonce: newSecret(), verifier: newSecret() });

function redirectUri({ request }: Visit): string {
  const { provider } = request.params as { readonly provider: string };
  const scheme = cameByHttps(request.headers) ? "https" : "http";
  return `${scheme}://${request.headers.host ?? ""}/auth/oidc/${provider}/callback`;
}

function queryOf({ request }: Visit, name: string): string {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : "";
}

function notBegun(): Problem {
  const detail = "this sign-in did not begin in this browser, or was finished: begin again";
  return new Problem(400, "sign_in_expired", detail);
}

function sentence({ message: detail }: Problem): string {
  return `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}.`;
}

async function sendPage(reply: FastifyReply, page: SignInPage): Promise<FastifyReply> {
  return reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", pagePolicy)
    .header("referrer-policy", "same-origin")
    .send(signInPage(page));
}
