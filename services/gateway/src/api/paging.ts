import { Problem } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";

export type PageStart = { readonly ordinal: number; readonly id: string };

/** An opaque token of where the next page begins. */
export function pageToken(row: PageStart | undefined): string {
  if (row === undefined) return "";
  return Buffer.from(JSON.stringify([row.ordinal, row.id])).toString("base64url");
}

export function readPageToken(token: string): PageStart | undefined {
  if (token === "") return undefined;
  try {
    const [ordinal, id] = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as unknown[];
    if (typeof ordinal === "number" && typeof id === "string") return { ordinal, id };
  } catch {
    // Falls through to the same answer as a token of another shape.
  }
  throw new Problem(400, "invalid_request", "this page_token is not one of ours");
}

export function pageSize(asked: number): number {
  return asked === 0 ? gatewayLimits.pageSizeDefault : Math.min(asked, gatewayLimits.pageSizeMax);
}

/** Rows were fetched with one more than the page holds: whether there is a next page follows. */
export function pageOf<Row extends PageStart>(
  rows: readonly Row[],
  size: number,
): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
  const page = rows.slice(0, size);
  return { rows: page, nextPageToken: rows.length > size ? pageToken(page.at(-1)) : "" };
}
