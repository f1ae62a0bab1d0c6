/** The keys of the document itself; its sections have files of their own. */
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import {
  countAt,
  flagAt,
  isMapping,
  type Json,
  type JsonObject,
  mappingAt,
  numberAt,
  textAt,
  textsAt,
  valueAt,
} from "../json.ts";
import { configLimits } from "../limits.ts";
import { asList, unite } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";
import type { SectionModule } from "./module.ts";

const RESTARTS = 5;
/** In seconds, as in Determined. */
const PREEMPTION_TIMEOUT = 3_600;

/** A list of labels, or Determined's older mapping with the labels as keys. */
function labelsOf(value: Json): Json[] {
  const labels = isMapping(value)
    ? Object.keys(value).filter((label) => value[label] !== false)
    : asList(value);
  return labels.every((label) => typeof label === "string") ? [...new Set(labels)].sort() : labels;
}

const labels = ({ oneOf, text, texts, z }: Values): Part => ({
  schema: oneOf(
    [texts, z.record(text, z.any())],
    "a list of texts (or a mapping whose keys are the labels)",
  ).describe("Texts to find the experiment by."),
  rewrite: labelsOf,
  merge: (mine, theirs) => labelsOf(unite(labelsOf(mine), labelsOf(theirs), (one) => one)),
});

const preemptionTimeout = ({ count, oneOf, z }: Values): Part => ({
  schema: oneOf(
    [count, z.string().regex(durationPattern, { error: `must be ${durationShape}` })],
    durationShape,
  ).describe("The time to save a checkpoint when a run makes room for others, such as 5m."),
  check: (value, path, note) => {
    const seconds = durationSeconds(value);
    if (seconds !== null && seconds > configLimits.preemptionTimeoutMaxSeconds) {
      note(path, "must be at most 24 hours");
    }
  },
});

export function readEntrypoint(recorded: JsonObject): string | string[] {
  const entrypoint = valueAt(recorded, "entrypoint");
  const words = textsAt(recorded, "entrypoint");
  if (Array.isArray(entrypoint) && words.length === entrypoint.length) return words;
  return textAt(recorded, "entrypoint");
}

const workspaceMax = configLimits.workspaceCharactersMax;

export const document = {
  keys: (values) => {
    const { anyText, flag, oneOf, text, z } = values;
    return {
      name: anyText.describe("The name of the experiment, for people."),
      description: anyText.describe("What the experiment is about."),
      workspace: anyText
        .refine(({ length }) => length <= workspaceMax, {
          error: `must be a name of at most ${workspaceMax} characters`,
        })
        .describe("The workspace that the experiment belongs to; quotas of pools count by it."),
      project: anyText.describe("The project within the workspace."),
      entrypoint: oneOf(
        [text, z.array(text).min(1)],
        "a command: text, or a list of texts",
      ).describe("The command that each trial runs in the folder of its code."),
      max_restarts: z
        .int()
        .min(0)
        .max(configLimits.restartsMax)
        .describe(`How often a trial is run again after its run has failed. Default ${RESTARTS}.`),
      debug: flag.describe("A flag for the training code. Default false."),
    };
  },
  parts: (values) => ({
    labels: labels(values),
    preemption_timeout: preemptionTimeout(values),
    data: {
      schema: values.freeMapping.describe("Any mapping, which the training code reads as it is."),
      withoutNulls: (value) => value,
    },
  }),
  defaults: {
    name: "",
    labels: [],
    workspace: "",
    project: "",
    max_restarts: RESTARTS,
    data: {},
    debug: false,
  },
  read: (recorded: JsonObject) => ({
    /** Empty if the user gave none. */
    name: textAt(recorded, "name"),
    description: textAt(recorded, "description"),
    labels: textsAt(recorded, "labels"),
    workspace: textAt(recorded, "workspace"),
    project: textAt(recorded, "project"),
    /** A text is run by the shell; a list is run directly. */
    entrypoint: readEntrypoint(recorded),
    /** Seconds that a preempted run has to write a checkpoint. */
    preemption_timeout:
      durationSeconds(valueAt(recorded, "preemption_timeout")) ?? PREEMPTION_TIMEOUT,
    max_restarts: countAt(recorded, "max_restarts", RESTARTS),
    data: mappingAt(recorded, "data"),
    debug: flagAt(recorded, "debug", false),
  }),
} satisfies Omit<SectionModule, "description">;

export const reproducibility = {
  description: "Seeds.",
  keys: ({ count }) => ({
    experiment_seed: count.describe("The seed of the search and its trials. Default: drawn."),
  }),
  required: { experiment_seed: "the client draws one when it submits" },
  fill: (value: Json, { seed }: { readonly seed: number }) =>
    isMapping(value) ? { experiment_seed: seed, ...value } : value,
  /** Null until a seed is drawn. */
  read: (section: JsonObject) => ({ experiment_seed: numberAt(section, "experiment_seed", null) }),
} satisfies SectionModule;
