/** The experiments that forks were made from, which may be deleted since. */
import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import type { ExperimentDocument } from "../core/views/documents.ts";
import { type Backend, isDeleted } from "../shell/backend.ts";

/** In the place of the id of a parent that is deleted. */
const deletedParent = "deleted";

/** The same experiments; one read for all of their parents. */
export async function withParents(
  { parts }: Backend,
  experiments: readonly Plain<Experiment>[],
): Promise<Plain<Experiment>[]> {
  const ids = new Set(experiments.map(({ parent }) => parent).filter((parent) => parent !== ""));
  const keys = [...ids].map((id) => ({ kind: "experiment", id }) as const);
  const rows = await parts.documents.fetch(parts.pool, keys);
  const there = new Set(
    rows.flatMap(({ id, doc }) => (isDeleted(doc as ExperimentDocument) ? [] : [id])),
  );
  return experiments.map((one) =>
    one.parent === "" || there.has(one.parent) ? one : { ...one, parent: deletedParent },
  );
}
