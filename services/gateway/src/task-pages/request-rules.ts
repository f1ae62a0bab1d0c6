/**
 * The rules for requests of browsers to a task's host. Only browsers send these headers and the cookie, and a page of
 * another task, or of any site, can cause a browser to send the cookie.
 */
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../http/problem.ts";

export type BrowserRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly isUpgrade: boolean;
};

/**
 * Refuses a request that a page of another origin caused. A link from elsewhere may open a page. Everything else must
 * come from the task's own pages; changes and upgrades must say so in the header Origin, since some browsers send no
 * other header with them.
 */
export function refuseForeignRequest({ method, headers, isUpgrade }: BrowserRequest): void {
  const { origin, host } = headers;
  if (origin !== undefined && !isOrigin(origin, host)) throw foreign();
  const isRead = (method === "GET" || method === "HEAD") && !isUpgrade;
  if (!isRead && origin === undefined) {
    const detail = "a change or a WebSocket with the cookie of a task needs the header Origin";
    throw new Problem(403, "no_origin", detail);
  }
  const site = headers["sec-fetch-site"];
  const isOwn = site === undefined || site === "same-origin" || site === "none";
  if (!isOwn && !(isRead && isNavigation(headers))) throw foreign();
}

/** Whether the browser opens a page in a tab of its own. A frame of another page is no such navigation. */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

function isOrigin(origin: string, host: string | undefined): boolean {
  // The origin "null", of a page without an origin, is not a URL.
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

function foreign(): Problem {
  return new Problem(403, "cross_origin", "this request came from a page of another origin");
}
