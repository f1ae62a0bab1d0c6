/** Trials of any experiments beside each other: what they are, and the metrics that they share. */
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { ComparedEnvironment, ComparedExperiment, Trial } from "@trainyard/contracts/api";
import { maskedDocument } from "@trainyard/experiment-config";
import { limits, mapConcurrently } from "@trainyard/kernel";
import { type Backend, isDeleted } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type {
  ConfigDocument,
  DocumentKey,
  ExperimentDocument,
  TrialDocument,
} from "../../read-model/core/views/documents.ts";
import { EnvironmentCache } from "../../spaces/environments.ts";
import { apiLimits } from "../limits.ts";
import { placeOf, shownTrial } from "../shown.ts";
import { type NamedSource, readSources, trialsOfSource } from "./sources.ts";

export function comparisonHandlers(backend: Backend) {
  const environments = new EnvironmentCache();
  return {
    compareTrials: (request, context) => compareTrials({ backend, environments }, request, context),
  } satisfies Partial<UnaryHandlers>;
}

type Known = { readonly doc: ExperimentDocument; readonly config: ConfigDocument["config"] };

type Gone = { readonly source: string; readonly reason: string };

type Compared = readonly Plain<ComparedEnvironment>[];

type Stores = { readonly backend: Backend; readonly environments: EnvironmentCache };

async function compareTrials(
  { backend, environments: kept }: Stores,
  request: RequestOf<"compareTrials">,
  context: RequestContext,
): Promise<ReplyOf<"compareTrials">> {
  const sources = readSources(request.sources);
  const { position } = backend;
  const experiments = await experimentsOf(backend, sources, context);
  const { trials, gone } = await trialsOf(backend, { sources, experiments }, context);
  const used = [...new Set(trials.map(({ experiment }) => experiment))];
  const known = used.flatMap((id) => experiments.get(id) ?? []);
  const [{ counts }, environments] = await Promise.all([
    trials.length === 0
      ? { counts: [] }
      : backend.command(
          "metrics",
          "CountMetricNames",
          { trials: trials.map(({ id }) => id), limit: apiLimits.comparedMetricsMax },
          context,
        ),
    mapConcurrently(used, apiLimits.environmentsAtOnce, async (id): Promise<Compared> => {
      const found = await kept.latestOf(backend, id);
      return found === null ? [] : [{ experiment: id, ...found }];
    }),
  ]);
  return {
    trials: trials.map((doc) => shownOf(doc, experiments)),
    experiments: known.map(shownExperiment),
    metrics: counts,
    gone: [...gone],
    environments: environments.flat(),
    position,
  };
}

/** Returns the experiments of the sources that exist and that the caller sees, with one query. */
async function experimentsOf(
  { parts }: Backend,
  sources: readonly NamedSource[],
  { rights }: RequestContext,
): Promise<ReadonlyMap<string, Known>> {
  const ids = [...new Set(sources.map(({ source }) => source.experiment))];
  const keys = ids.flatMap((id): readonly DocumentKey[] => [
    { kind: "experiment", id },
    { kind: "config", id },
  ]);
  const rows = await parts.documents.fetch(parts.pool, keys);
  const configs = new Map(
    rows.flatMap((row) => (row.kind === "config" ? [[row.id, row.doc.config] as const] : [])),
  );
  return new Map(
    rows.flatMap((row) =>
      row.kind === "experiment" &&
      !isDeleted(row.doc) &&
      rights.has("experiment_view", placeOf(row.doc).workspace)
        ? [[row.id, { doc: row.doc, config: configs.get(row.id) }] as const]
        : [],
    ),
  );
}

type Named = {
  readonly sources: readonly NamedSource[];
  readonly experiments: ReadonlyMap<string, Known>;
};

/** Returns the trials in the order of the sources, each once, and the sources without a trial. */
async function trialsOf(
  backend: Backend,
  { sources, experiments }: Named,
  context: RequestContext,
): Promise<{ readonly trials: readonly TrialDocument[]; readonly gone: readonly Gone[] }> {
  const gone: Gone[] = [];
  const ids = new Set<string>();
  const documentOf = new Map<string, TrialDocument>();
  for (const { text, source } of sources) {
    const experiment = experiments.get(source.experiment)?.doc;
    if (experiment === undefined) {
      gone.push({ source: text, reason: `there is no experiment ${source.experiment}` });
      continue;
    }
    const found = await trialsOfSource(backend, { text, source, experiment }, context);
    if ("missing" in found) gone.push({ source: text, reason: found.missing });
    else for (const id of found.ids) ids.add(id);
  }
  const { comparedTrialsMax } = limits;
  if (ids.size > comparedTrialsMax) {
    const detail = `a comparison takes ${comparedTrialsMax} trials; these sources name ${ids.size}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const { documents, pool } = backend.parts;
  const keys = [...ids].map((id) => ({ kind: "trial", id }) as const);
  for (const row of await documents.fetch(pool, keys)) {
    if (row.kind === "trial") documentOf.set(row.id, row.doc);
  }
  const trials = [...ids].flatMap((id) => {
    const doc = documentOf.get(id);
    if (doc === undefined) gone.push({ source: id, reason: `there is no trial ${id}` });
    return doc ?? [];
  });
  return { trials, gone };
}

function shownOf(doc: TrialDocument, experiments: ReadonlyMap<string, Known>): Plain<Trial> {
  const known = experiments.get(doc.experiment);
  return shownTrial(doc, known?.doc, known?.config);
}

function shownExperiment({ doc, config }: Known): Plain<ComparedExperiment> {
  const { id, name, labels, searcher, metric, smallerIsBetter, owner, state, createdAtMs } = doc;
  const { workspace, project } = placeOf(doc);
  return {
    ...{ id, name, labels, searcher, metric, smallerIsBetter, workspace, project, owner, state },
    ...(config === undefined ? {} : { config: maskedDocument(config) }),
    codeDigest: doc.contextDigest,
    createdAtMs,
  };
}
