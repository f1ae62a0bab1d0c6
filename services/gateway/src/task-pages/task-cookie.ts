/** The cookie of a browser's session with one host of a task. */
import type { IncomingHttpHeaders } from "node:http";
import { cameByHttps } from "../http/session-cookie.ts";

const name = "trainyard_task";
/** Browsers accept a cookie with this prefix only from its own host, over TLS, for all paths. */
const secureName = `__Host-${name}`;

/** Returns the secret of the session; null without a cookie. */
export function secretOf(headers: IncomingHttpHeaders): string | null {
  const wanted = cameByHttps(headers) ? [secureName] : [secureName, name];
  const cookies = (headers.cookie ?? "").split(";").map((one) => one.trim());
  for (const one of wanted) {
    const found = cookies.find((cookie) => cookie.startsWith(`${one}=`));
    if (found !== undefined) return found.slice(one.length + 1);
  }
  return null;
}

/**
 * Returns the header that sets the cookie. It has no Domain, so that only this host gets it, and no end, so that it
 * ends with the browser or when the server ends the session.
 */
export function cookieOf(secret: string, headers: IncomingHttpHeaders): string {
  const attributes = "Path=/; HttpOnly; SameSite=Lax";
  if (cameByHttps(headers)) return `${secureName}=${secret}; ${attributes}; Secure`;
  return `${name}=${secret}; ${attributes}`;
}
