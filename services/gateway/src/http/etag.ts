/**
 * ETag and If-Match (RFC 9110, sections 8.8.3 and 13.1.1). The entity tag is the revision of the fields that a PATCH
 * changes, not of the whole answer, so If-None-Match is not supported.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import { isMapping } from "@trainyard/kernel";
import { Problem } from "./problem.ts";

/** Returns the tag of an answer, or of its only part with a tag; empty for none. `body` is the answer as JSON. */
export function etagOf(reply: DescMessage, body: string): string {
  const hasTag = (message: DescMessage | undefined): boolean =>
    message?.fields.some(({ name }) => name === "etag") === true;
  const part = reply.fields.find((one) => one.fieldKind === "message" && hasTag(one.message));
  if (part === undefined && !hasTag(reply)) return "";
  const answer: unknown = JSON.parse(body);
  const entity = part === undefined || !isMapping(answer) ? answer : answer[part.jsonName];
  const etag = isMapping(entity) ? entity["etag"] : undefined;
  return typeof etag === "string" ? etag : "";
}

export const etagOfRevision = (revision: number): string => `"${revision}"`;

/** Returns the revision in If-Match; undefined for any. Throws a Problem of 412 for a tag of another entity. */
export function revisionOf(ifMatch: string | undefined): number | undefined {
  const given = ifMatch?.trim();
  if (given === undefined || given === "*") return undefined;
  const [, revision] = /^"(\d{1,9})"$/.exec(given) ?? [];
  if (revision !== undefined) return Number(revision);
  if (/^"[^"]*"$/.test(given)) {
    throw new Problem(
      412,
      "stale_revision",
      `the ETag ${given} is not that of the latest revision`,
    );
  }
  throw new Problem(400, "invalid_request", 'If-Match takes one ETag in quotes, as "3", or *');
}
