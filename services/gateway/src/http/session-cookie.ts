/** The cookie of a browser's session: its name, who may read it, and where it is sent. */
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * The session's secret in a request, or undefined; the name has the cluster's id, as cookies of one host share its
 * ports.
 */
export function sessionOfRequest(request: FastifyRequest, clusterId: string): string | undefined {
  return request.cookies[nameFor(clusterId)];
}

/** How a handler gives the browser its session. */
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
  // Without Max-Age: it ends with the browser, and the server ends it earlier.
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

/** The gateway speaks plain HTTP: a proxy before it says so, or the browser, by the origin of its page. */
function cameByHttps({ headers }: FastifyRequest): boolean {
  const [proxied] = String(headers["x-forwarded-proto"] ?? "").split(",");
  return proxied?.trim() === "https" || headers.origin?.startsWith("https://") === true;
}
