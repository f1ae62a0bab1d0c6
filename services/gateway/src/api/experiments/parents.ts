/** The parents of forked experiments, which may have been deleted, or which the caller may not see. */
import type { Rights } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import { type Backend, isDeleted } from "../../backend.ts";
import type { ExperimentDocument } from "../../read-model/core/views/documents.ts";
import { placeOf } from "../shown.ts";
import { deletedExperiment } from "../../read-model/core/lists/conditions.ts";

/** Adds the parents to the experiments, with one read for all. */
export async function withParents(
  { parts }: Backend,
  rights: Rights,
  experiments: readonly Plain<Experiment>[],
): Promise<Plain<Experiment>[]> {
  const ids = new Set(experiments.map(({ parent }) => parent).filter((parent) => parent !== ""));
  const keys = [...ids].map((id) => ({ kind: "experiment", id }) as const);
  const rows = await parts.documents.fetch(parts.pool, keys);
  const there = new Set(
    rows.flatMap((row) => {
      const doc = row.doc as ExperimentDocument;
      const isSeen = rights.has("experiment_view", placeOf(doc).workspace);
      return isSeen && !isDeleted(doc) ? [row.id] : [];
    }),
  );
  return experiments.map((one) =>
    one.parent === "" || there.has(one.parent) ? one : { ...one, parent: deletedExperiment },
  );
}
