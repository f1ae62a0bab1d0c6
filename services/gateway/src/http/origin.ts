/** Where a browser's request comes from. Programs send none of these headers; only browsers hold cookies. */
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "./problem.ts";

/** A browser says where a page came from; only this server's own pages may call it. */
export function refuseCrossOrigin({ origin, host }: IncomingHttpHeaders): void {
  if (origin !== undefined && !isOwn(origin, host)) throw foreign();
}

/**
 * A cookie is sent along whatever page asks, also one of another port of this host. So a call that changes something
 * must name its page, and one that reads must not come from another: a link that was followed from there counts as
 * such.
 */
export function refuseForeignCookie(method: string, headers: IncomingHttpHeaders): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  if (method === "GET" || method === "HEAD") return;
  if (headers.origin === undefined) {
    const detail = "a change by cookie needs the header Origin; programs send a token instead";
    throw new Problem(403, "no_origin", detail);
  }
  refuseCrossOrigin(headers);
}

function isOwn(origin: string, host: string | undefined): boolean {
  // "null", for a page without an origin, is no URL.
  return URL.canParse(origin) && new URL(origin).host === host;
}

function foreign(): Problem {
  return new Problem(403, "cross_origin", "calls from pages of another origin are refused");
}
