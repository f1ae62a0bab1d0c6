/** Checks the origin of a browser's request. Programs send none of these headers, and only browsers send cookies. */
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "./problem.ts";

/** Refuses a call from a page of another origin. */
export function refuseCrossOrigin({ origin, host }: IncomingHttpHeaders): void {
  if (origin !== undefined && !isOwn(origin, host)) throw foreign();
}

/**
 * Refuses a cookie that another site may have caused the browser to send, also from another port of this host. A change
 * must have an origin, and a read must not come from another site, not even by a link.
 */
export function refuseForeignCookie(method: string, headers: IncomingHttpHeaders): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  if (method === "GET" || method === "HEAD") return;
  if (headers.origin === undefined) {
    const detail = "a change by a cookie needs the header Origin; programs send a token instead";
    throw new Problem(403, "no_origin", detail);
  }
  refuseCrossOrigin(headers);
}

function isOwn(origin: string, host: string | undefined): boolean {
  // The origin "null", of a page without an origin, is not a URL.
  return URL.canParse(origin) && new URL(origin).host === host;
}

function foreign(): Problem {
  return new Problem(403, "cross_origin", "calls from pages of another origin are refused");
}
