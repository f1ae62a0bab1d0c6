/**
 * Turns the YAML text of a task into its normalised configuration, or into all its problems at once, by the stages of
 * `../parse.ts`. An empty text has every default.
 */
import { type FieldProblem, isRejection, type Rejection } from "@trainyard/kernel";
import { checkStorage } from "../checks.ts";
import { readYaml, textProblem } from "../document.ts";
import {
  flagAt,
  isMapping,
  itemPath,
  type Json,
  type JsonObject,
  keyPath,
  mappingAt,
  valueAt,
  without,
} from "../json.ts";
import { asWrittenIn } from "../normalise.ts";
import { withOverrides } from "../overrides.ts";
import { firstOfEachPath, invalidConfig, notAMapping, sizeProblems } from "../parse.ts";
import { filled, laidOver, missing, rewritten, sanity, withoutNulls } from "../parts/part.ts";
import { noteKey } from "../warnings.ts";
import { portKeysWithoutEffect } from "./environment.ts";
import { kindWarnings } from "./kind-warnings.ts";
import { keepsWork, taskConfig, type TaskConfig, type TaskKind } from "./recorded.ts";
import { task, taskAsWritten } from "./task.ts";

export type TaskParseOptions = {
  readonly kind: TaskKind;
  /** The command word by word, instead of an entrypoint in the configuration. */
  readonly command?: readonly string[];
  /** Overrides of the form "a.b=value", with the value in YAML; later ones win over earlier ones. */
  readonly overrides?: readonly string[];
  /** The cluster's defaults: the storage of saves. */
  readonly defaults?: JsonObject;
};

export type ParsedTask = {
  readonly config: TaskConfig;
  /** Accepted values that have no effect. */
  readonly warnings: readonly FieldProblem[];
};

export function parseTask(yamlText: string, options: TaskParseOptions): ParsedTask | Rejection {
  const read = documentIn(yamlText, options.overrides ?? []);
  if (isRejection(read)) return read;
  const written = [...read.problems, ...sanity(task, read.document)];
  const document = withDefaults(read.document, options);
  // Merging defaults needs right shapes, so the merged document is checked only if the written one has no problem.
  const merged = written.length > 0 ? [] : sanity(task, document);
  const full = filled(task, document, { seed: 0 }) as JsonObject;
  const { entrypoint, problems: runnable } = whatRuns(document, options);
  const unusable = storageProblems(document);
  const lacking = missing(task, full);
  const problems = firstOfEachPath([...written, ...merged, ...unusable, ...lacking, ...runnable]);
  if (problems.length > 0) return invalidConfig(problems);
  const config = normalised(document, { ...full, entrypoint });
  const excess = sizeProblems(config);
  if (excess.length > 0) return invalidConfig(excess);
  return { config, warnings: warningsOf(read.document, options.kind) };
}

type Written = { readonly document: JsonObject; readonly problems: readonly FieldProblem[] };

function documentIn(yamlText: string, overrides: readonly string[]): Written | Rejection {
  const { value, problems } = readYaml(yamlText);
  if (problems.length > 0) return invalidConfig(problems);
  const written = value ?? {};
  if (!isMapping(written)) return invalidConfig([notAMapping(written)]);
  const overridden = withOverrides(written, overrides);
  return { ...overridden, document: withoutNulls(task, overridden.document) as JsonObject };
}

/** The slots of a TensorBoard, which computes nothing, as in Determined. */
const TENSORBOARD_SLOTS = 0;

/** Lays the document over the defaults of its kind and of the cluster. Only kept work has a storage. */
function withDefaults(written: JsonObject, { kind, defaults = {} }: TaskParseOptions): JsonObject {
  const document = rewritten(task, written) as JsonObject;
  const keeps = keepsWork(kind, { keep_work: flagAt(document, "keep_work", false) });
  const mine = keeps ? document : without(document, ["checkpoint_storage"]);
  const theirs = {
    ...(keeps ? defaults : {}),
    ...(kind === "tensorboard" ? { resources: { slots: TENSORBOARD_SLOTS } } : {}),
  };
  return laidOver(task, mine, rewritten(task, theirs)) as JsonObject;
}

function storageProblems(document: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  checkStorage("checkpoint_storage", valueAt(document, "checkpoint_storage"), (path, detail) =>
    problems.push({ path, detail }),
  );
  return problems;
}

type Runnable = { readonly entrypoint: Json; readonly problems: readonly FieldProblem[] };

/** Decides what the task runs: the words of the request or the entrypoint; only a command has one of them. */
function whatRuns(document: JsonObject, { kind, command = [] }: TaskParseOptions): Runnable {
  const entrypoint = valueAt(document, "entrypoint");
  const refused = (path: string, detail: string): Runnable => ({
    entrypoint: "",
    problems: [{ path, detail }],
  });
  if (kind !== "command") {
    if (command.length > 0) {
      return refused("command", `is given, and a ${kind} runs none: start a command instead`);
    }
    // Determined's shells have an entrypoint in some templates, and it changes nothing there either.
    return entrypoint === undefined || kind === "shell"
      ? { entrypoint: "", problems: [] }
      : refused("entrypoint", `must not be given: the server of a ${kind} runs`);
  }
  if (command.length === 0) {
    if (entrypoint === undefined) {
      return refused(
        "entrypoint",
        'is missing: it is the command to run, for example "nvidia-smi"',
      );
    }
    const isBlank = typeof entrypoint === "string" && entrypoint !== "" && entrypoint.trim() === "";
    if (isBlank) return refused("entrypoint", "is blank: it is the command to run");
    return { entrypoint, problems: [] };
  }
  if (entrypoint !== undefined) {
    return refused("entrypoint", "is given, and a command too: leave out one of them");
  }
  if (command[0]?.trim() === "") return refused("command", "begins with a blank word");
  for (const [index, word] of command.entries()) {
    const problem = textProblem(word);
    if (problem !== null) return refused(itemPath("command", index), problem);
  }
  return { entrypoint: [...command], problems: [] };
}

/** Keys with an effect are taken from `full`, all others from `document`, without credentials. */
function normalised(document: JsonObject, full: JsonObject): TaskConfig {
  const { document: top, sections } = taskAsWritten;
  const inside = Object.entries(sections).flatMap(([name, warnings]) => {
    if (valueAt(full, name) === undefined) return [];
    const keys = Object.keys(warnings);
    const written = asWrittenIn(mappingAt(document, name), keys, [name]);
    return [[name, { ...without(mappingAt(full, name), keys), ...written }] as const];
  });
  return taskConfig({
    ...without(full, Object.keys(top)),
    ...Object.fromEntries(inside),
    ...asWrittenIn(document, Object.keys(top)),
  });
}

function warningsOf(document: JsonObject, kind: TaskKind): readonly FieldProblem[] {
  const { document: top, sections } = taskAsWritten;
  const warnings = [
    ...Object.entries(top).flatMap(([key, text]) => noteKey([key], text, document)),
    ...Object.entries(sections).flatMap(([section, keys]) =>
      Object.entries(keys).flatMap(([key, text]) => noteKey([section, key], text, document)),
    ),
    ...portWarnings(valueAt(mappingAt(document, "environment"), "proxy_ports")),
    ...kindWarnings(document, kind),
  ];
  return firstOfEachPath(warnings);
}

function portWarnings(ports: Json | undefined): readonly FieldProblem[] {
  return (Array.isArray(ports) ? ports : []).flatMap((entry, index) =>
    Object.entries(portKeysWithoutEffect).flatMap(([key, detail]) =>
      isMapping(entry) && valueAt(entry, key) === true
        ? [{ path: keyPath(`environment.proxy_ports[${index}]`, key), detail }]
        : [],
    ),
  );
}
