/**
 * Turns YAML text into the normalised configuration, or into all its problems at once. Steps: read the YAML, apply the
 * caller's overrides, drop nulls, check the written document against the schema, rewrite older shapes, merge over the
 * cluster's defaults, fill in the remaining defaults, then check for missing keys and features that do not run here.
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
import { gridSize, isConditional } from "./hyperparameters/space.ts";
import { problemsInSpace } from "./searcher/searcher.ts";
import { pointProblems } from "./searcher/point-problems.ts";
import { warningsOf } from "./warnings.ts";

export type ParseOptions = {
  /** Overrides of the form "a.b=value", with the value in YAML; later ones win over earlier ones. */
  readonly overrides?: readonly string[];
  /** The cluster's defaults, in the form of the document; they must contain `checkpoint_storage`. */
  readonly defaults?: JsonObject;
};

export type ParsedExperiment = {
  readonly config: NormalisedConfig;
  /** Accepted values that have no effect, or another effect than their name suggests. */
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
  // The placeholder seed counts as given; `withSeed` sets the drawn one.
  const full = filled(experiment, document, { seed: 0 }) as JsonObject;
  const written = [...overridden.problems, ...sanity(experiment, mine)];
  // Merging defaults needs right shapes, so the merged document is checked only if the written one has no problem.
  const merged = written.length > 0 ? [] : sanity(experiment, document);
  const notRun = whatDoesNotRun(document);
  const kinds = notRun.flatMap(
    ({ path }) =>
      /^(searcher|checkpoint_storage|tensorboard_storage)\.(?:name|type)$/.exec(path)?.[1] ?? [],
  );
  // A searcher or storage of a kind that does not run is one problem: its missing keys are not reported too.
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

export function notAMapping(value: Json): FieldProblem {
  const found = value === null ? "is empty" : `is ${describeValue(value)}`;
  return { path: "", detail: `the configuration ${found}; it must be a mapping of keys to values` };
}

/** A key that both the schema and a check report as missing is one problem. */
export function firstOfEachPath(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** Combines all problems of a configuration into one rejection. */
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

/** Constraints, points and conditions of the searcher must name existing hyperparameters. */
function spaceProblems({ searcher, hyperparameters }: NormalisedConfig): readonly FieldProblem[] {
  return [
    ...constraintProblems(searcher.constraints ?? [], hyperparameters),
    ...pointProblems(searcher.warm_start?.points ?? [], hyperparameters),
    ...problemsInSpace(searcher, hyperparameters),
  ];
}

/** Aliases and defaults can enlarge a document, and a trial gets the result in one environment variable. */
export function sizeProblems(config: object): readonly FieldProblem[] {
  const bytes = utf8Bytes(JSON.stringify(config));
  if (bytes <= limits.configBytesMax) return [];
  const detail = `the configuration is ${bytes} bytes long with defaults and aliases written out; the limit is ${limits.configBytesMax}`;
  return [{ path: "", detail }];
}

function trialProblems(config: NormalisedConfig): readonly FieldProblem[] {
  // With conditions or constraints the grid has fewer points than the product of its axes, so the grid walker counts
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
