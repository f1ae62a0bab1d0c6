import { createHash } from "node:crypto";
import { isRejection, type Rejection } from "@trainyard/kernel";
import type { Work } from "@trainyard/runtime";
import type { Asker, Backend } from "../backend.ts";
import { problemOf } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";
import { ownCommit } from "../spaces/own-commit.ts";

/** Commits a decision about users, and waits until this replica has it. Returns the position as text. */
export async function commit(
  backend: Backend,
  asker: Asker,
  decide: (work: Work) => Promise<Rejection | undefined>,
): Promise<string> {
  const result = await backend.parts.executor.execute(ownCommit(asker), decide);
  if (isRejection(result)) throw problemOf(result);
  await backend.hear(result.position);
  return String(result.position || backend.position);
}

/** Returns the rejection of a decision; undefined for events. */
export const rejectionOf = (decided: Rejection | readonly unknown[]): Rejection | undefined =>
  isRejection(decided) ? decided : undefined;

/** Returns an id for something that a request makes: a repeat of the request has the same one. */
export function idFor(what: string, { commitId }: Pick<RequestContext, "commitId">): string {
  return createHash("sha256").update(`${what} ${commitId}`).digest("hex").slice(0, 12);
}
