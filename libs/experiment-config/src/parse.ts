/**
 * YAML text → the normalised configuration, or everything that is wrong with it at once. In order: read the YAML, apply
 * the caller's overrides, drop nulls, hold it against the schema as it was written, bring older shapes into the newer,
 * lay it over the cluster's defaults, fill in what is still absent, ask what is missing now and what does not run here.
 */
import { type FieldProblem, limits, type Rejection, reject, utf8Bytes } from "@trainyard/kernel";
import { whatDoesNotRun } from "./checks.ts";
import { resolveConditions } from "./hyperparameters/conditions.ts";
import { hyperparameterSpace, type NormalisedConfig } from "./config.ts";
import { readYaml } from "./document.ts";
import { describeValue, isMapping, type Json, type JsonObject, valueAt } from "./json.ts";
import { configLimits } from "./limits.ts";
import { constraintProblems } from "./searcher/constraints.ts";
import { normalise } from "./normalise.ts";
import { withTimeFromLength } from "./searcher/older-length.ts";
import { withOverrides } from "./overrides.ts";
import { experiment } from "./experiment.ts";
import { filled, laidOver, missing, rewritten, sanity, withoutNulls } from "./parts/part.ts";
import { populationProblems } from "./searcher/population-space.ts";
import { gridSize, isConditional } from "./hyperparameters/space.ts";
import { pointProblems } from "./searcher/point-problems.ts";
import { warningsOf } from "./warnings.ts";

export type ParseOptions = {
  /** "a.b=value" each, the value read as YAML; a later one overrides an earlier one. */
  readonly overrides?: readonly string[];
  /** The cluster's defaults, in the document's own form: `checkpoint_storage` at least. */
  readonly defaults?: JsonObject;
};

export type ParsedExperiment = {
  readonly config: NormalisedConfig;
  /** Accepted values without effect, or not with the one that they seem to have. */
  readonly warnings: readonly FieldProblem[];
};

export function parseExperiment(
  yamlText: string,
  options: ParseOptions = {},
): ParsedExperiment | Rejection {
  const read = readYaml(yamlText);
  if (read.problems.length > 0) return invalidConfig(read.problems);
  if (!isMapping(read.value)) return invalidConfig([notAMapping(read.value)]);
  const overridden = withOverrides(read.value, options.overrides ?? []);
  const mine = stripped(overridden.document);
  const document = withTimeFromLength(
    laidOver(
      experiment,
      rewritten(experiment, mine),
      rewritten(experiment, stripped(options.defaults ?? {})),
    ) as JsonObject,
  );
  // The seed counts as given: `withSeed` puts the drawn one in.
  const full = filled(experiment, document, { seed: 0 }) as JsonObject;
  const written = [...overridden.problems, ...sanity(experiment, mine)];
  // Defaults under a wrong shape say nothing: the merged document is checked against the schema when all shapes are
  // right.
  const merged = written.length > 0 ? [] : sanity(experiment, document);
  const notRun = whatDoesNotRun(document);
  const kinds = notRun.flatMap(
    ({ path }) =>
      /^(searcher|checkpoint_storage|tensorboard_storage)\.(?:name|type)$/.exec(path)?.[1] ?? [],
  );
  // A missing key of a searcher or a storage does not matter when that kind does not run.
  const lacking = missing(experiment, full).filter(
    ({ path }) => !kinds.some((kind) => path.startsWith(`${kind}.`)),
  );
  const problems = firstOfEachPath([...written, ...merged, ...lacking, ...notRun]);
  if (problems.length > 0) return invalidConfig(problems);
  const { problems: circular } = resolveConditions(hyperparametersIn(full));
  if (circular.length > 0) return invalidConfig(circular);
  const config = normalise(document, full);
  const excess = [...sizeProblems(config), ...trialProblems(config), ...spaceProblems(config)];
  if (excess.length > 0) return invalidConfig(excess);
  return { config, warnings: warningsOf(mine) };
}

const stripped = (document: JsonObject): JsonObject =>
  withoutNulls(experiment, document) as JsonObject;

function notAMapping(value: Json): FieldProblem {
  const found = value === null ? "is empty" : `is ${describeValue(value)}`;
  return { path: "", detail: `the configuration ${found}; it must be a mapping of keys to values` };
}

/** A key that is missing by the schema and by a check is one problem. */
function firstOfEachPath(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** Everything that is wrong with a configuration, as one rejection. */
export function invalidConfig(all: readonly FieldProblem[]): Rejection {
  const problems = all.slice(0, configLimits.problemsMax);
  const more = all.length - problems.length;
  const sentences = problems.map(({ path, detail }) =>
    path === "" ? detail : `${path} ${detail}`,
  );
  if (more > 0) sentences.push(`and ${more} more`);
  return reject(
    "invalid_config",
    `the configuration is not valid: ${sentences.join("; ")}`,
    problems,
  );
}

function hyperparametersIn(document: JsonObject): JsonObject {
  const space = valueAt(document, "hyperparameters");
  return isMapping(space) ? space : {};
}

/** The searcher's statements about the space must name what is there. */
function spaceProblems({ searcher, hyperparameters }: NormalisedConfig): readonly FieldProblem[] {
  return [
    ...constraintProblems(searcher.constraints ?? [], hyperparameters),
    ...pointProblems(searcher.warm_start?.points ?? [], hyperparameters),
    ...populationProblems(searcher, hyperparameters),
  ];
}

/** Aliases and defaults can make more of a document than was written, and a trial gets it in one variable. */
function sizeProblems(config: NormalisedConfig): readonly FieldProblem[] {
  const bytes = utf8Bytes(JSON.stringify(config));
  if (bytes <= limits.configBytesMax) return [];
  const detail = `the configuration is ${bytes} bytes long with defaults and aliases written out; the limit is ${limits.configBytesMax}`;
  return [{ path: "", detail }];
}

function trialProblems(config: NormalisedConfig): readonly FieldProblem[] {
  // With conditions or constraints the grid has fewer points than the product of its axes: the walker counts
  // them.
  const { searcher } = config;
  if (searcher.name !== "grid" || searcher.constraints !== undefined) return [];
  const space = hyperparameterSpace(config);
  if (isConditional(space)) return [];
  const points = Math.min(gridSize(space), searcher.max_trials ?? Number.POSITIVE_INFINITY);
  if (points <= configLimits.trialsPerSearchMax) return [];
  const detail = `make a grid of ${points} points; the limit is ${configLimits.trialsPerSearchMax}`;
  return [{ path: "hyperparameters", detail }];
}
