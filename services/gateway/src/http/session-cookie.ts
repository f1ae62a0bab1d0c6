/** The cookie of a browser's session: its name, its scope and its attributes. */
import { fastifyCookie } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Returns the session's secret from a request's cookie. The cookie's name has the cluster's id, because all ports of a
 * host share cookies.
 */
export function sessionOfRequest(request: FastifyRequest, clusterId: string): string | undefined {
  return request.cookies[nameFor(clusterId)];
}

/** Returns the session's secret from the header Cookie of an upgrade, which Fastify does not parse. */
export function sessionOfHeader(cookie: string | undefined, clusterId: string): string | undefined {
  return fastifyCookie.parse(cookie ?? "")[nameFor(clusterId)];
}

/** Sets and clears the session cookie in an answer. */
export type SessionCookie = {
  readonly set: (secret: string) => void;
  readonly clear: () => void;
};

export function sessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  clusterId: string,
): SessionCookie {
  const name = nameFor(clusterId);
  // The cookie has no Max-Age: it ends with the browser, or earlier when the server ends the session.
  const options = {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: cameByHttps(request),
  } as const;
  return {
    set: (secret) => void reply.setCookie(name, secret, options),
    clear: () => void reply.clearCookie(name, options),
  };
}

const nameFor = (clusterId: string): string => `trainyard_${clusterId}`;

/**
 * Whether the browser uses HTTPS. The gateway speaks plain HTTP, so this is known from the proxy's header or from the
 * page's origin.
 */
function cameByHttps({ headers }: FastifyRequest): boolean {
  const [proxied] = String(headers["x-forwarded-proto"] ?? "").split(",");
  return proxied?.trim() === "https" || headers.origin?.startsWith("https://") === true;
}
