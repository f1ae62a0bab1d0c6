import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import type { DocumentKind, Documents } from "../read-model/core/views/documents.ts";
import type { ListOptions } from "../read-model/document-store.ts";
import { readModelLimits } from "../read-model/limits.ts";

export type PageStart = { readonly ordinal: number; readonly id: string };

type Page<Kind extends DocumentKind> = {
  readonly items: readonly Documents[Kind][];
  readonly nextPageToken: string;
  readonly position: string;
};

/** Makes an opaque page token: where the next page begins. */
function pageToken(row: PageStart | undefined): string {
  if (row === undefined) return "";
  return Buffer.from(JSON.stringify([row.ordinal, row.id])).toString("base64url");
}

function readPageToken(token: string): PageStart | undefined {
  if (token === "") return undefined;
  try {
    const [ordinal, id] = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as unknown[];
    const isId = typeof id === "string" && !id.includes("\0");
    if (Number.isSafeInteger(ordinal) && isId) return { ordinal: ordinal as number, id };
  } catch {
    // An unreadable token is refused below, like one of another shape.
  }
  throw new Problem(400, "invalid_request", "invalid page_token");
}

export function pageSize(asked: number): number {
  return asked === 0
    ? readModelLimits.pageSizeDefault
    : Math.min(asked, readModelLimits.pageSizeMax);
}

/**
 * Returns a page of the documents of a kind, the token of the next page (empty for none), and the position of the read.
 */
export async function listPage<Kind extends DocumentKind>(
  { parts, position }: Backend,
  kind: Kind,
  asked: { readonly pageSize: number; readonly pageToken: string },
  options: Omit<ListOptions, "after" | "limit"> = {},
): Promise<Page<Kind>> {
  const size = pageSize(asked.pageSize);
  const after = readPageToken(asked.pageToken);
  // The query fetches one row more than a page, to see whether another page follows.
  const rows = await parts.documents.list(parts.pool, kind, {
    ...options,
    limit: size + 1,
    ...(after === undefined ? {} : { after }),
  });
  const page = rows.slice(0, size);
  const nextPageToken = rows.length > size ? pageToken(page.at(-1)) : "";
  return { items: page.map(({ doc }) => doc), nextPageToken, position };
}
