/** The cookie of a browser's session: its name, its scope and its attributes. */
import type { IncomingHttpHeaders } from "node:http";
import { fastifyCookie } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Returns the session's secret from a request's cookie. The cookie's name has the cluster's id, because all ports of a
 * host share cookies. Over TLS only the name counts that no other host can set for this one: the page of a task may set
 * cookies for the domain above it.
 */
export function sessionOfHeaders(
  headers: IncomingHttpHeaders,
  clusterId: string,
): string | undefined {
  const cookies = fastifyCookie.parse(headers.cookie ?? "");
  const secure = cookies[secureNameFor(clusterId)];
  if (secure !== undefined || cameByHttps(headers)) return secure;
  return cookies[nameFor(clusterId)];
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
  const secure = cameByHttps(request.headers);
  const name = secure ? secureNameFor(clusterId) : nameFor(clusterId);
  // The cookie has no Max-Age: it ends with the browser, or earlier when the server ends the session.
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
  return {
    set: (secret) => void reply.setCookie(name, secret, options),
    clear: () => void reply.clearCookie(name, options),
  };
}

const nameFor = (clusterId: string): string => `trainyard_${clusterId}`;
const secureNameFor = (clusterId: string): string => `__Host-${nameFor(clusterId)}`;

/**
 * Whether the browser uses HTTPS. The gateway speaks plain HTTP, so this is known from the proxy's header or from the
 * page's origin.
 */
export function cameByHttps(headers: IncomingHttpHeaders): boolean {
  const [proxied] = String(headers["x-forwarded-proto"] ?? "").split(",");
  return proxied?.trim() === "https" || headers.origin?.startsWith("https://") === true;
}
