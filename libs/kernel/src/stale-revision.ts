import { type Rejection, reject } from "./decider.ts";

/** The rejection of a change that depends on a revision of an object that is not the latest one. */
export function staleRevision(read: number, latest: number): Rejection {
  const since =
    read < latest
      ? `it was changed since revision ${read} was read: read it again, the latest is revision ${latest}`
      : `it has no revision ${read}: the latest is revision ${latest}`;
  return reject("stale_revision", since);
}
