/**
 * Turns the YAML text of a command or a shell into its normalised configuration, or into all its problems at once, by
 * the stages of `../parse.ts`. An empty text has every default.
 */
import { type FieldProblem, isRejection, type Rejection } from "@trainyard/kernel";
import { readYaml, textProblem } from "../document.ts";
import {
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
import { filled, missing, rewritten, sanity, withoutNulls } from "../parts/part.ts";
import { noteKey } from "../warnings.ts";
import { portKeysWithoutEffect } from "./environment.ts";
import { taskConfig, type TaskConfig, type TaskKind } from "./recorded.ts";
import { task, taskAsWritten } from "./task.ts";

export type TaskParseOptions = {
  readonly kind: TaskKind;
  /** The command word by word, instead of an entrypoint in the configuration. */
  readonly command?: readonly string[];
  /** Overrides of the form "a.b=value", with the value in YAML; later ones win over earlier ones. */
  readonly overrides?: readonly string[];
};

export type ParsedTask = {
  readonly config: TaskConfig;
  /** Accepted values that have no effect. */
  readonly warnings: readonly FieldProblem[];
};

export function parseTask(yamlText: string, options: TaskParseOptions): ParsedTask | Rejection {
  const read = documentIn(yamlText, options.overrides ?? []);
  if (isRejection(read)) return read;
  const document = rewritten(task, read.document) as JsonObject;
  const full = filled(task, document, { seed: 0 }) as JsonObject;
  const written = [...read.problems, ...sanity(task, read.document)];
  const { entrypoint, problems: runnable } = whatRuns(document, options);
  const problems = firstOfEachPath([...written, ...missing(task, full), ...runnable]);
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

type Runnable = { readonly entrypoint: Json; readonly problems: readonly FieldProblem[] };

/** Decides what the task runs: the words of the request or the entrypoint; a shell runs neither. */
function whatRuns(document: JsonObject, { kind, command = [] }: TaskParseOptions): Runnable {
  const entrypoint = valueAt(document, "entrypoint");
  const refused = (path: string, detail: string): Runnable => ({
    entrypoint: "",
    problems: [{ path, detail }],
  });
  if (kind === "shell") {
    return command.length === 0
      ? { entrypoint: "", problems: [] }
      : refused("command", "is given, and a shell runs none: start a command instead");
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
  const inside = Object.entries(sections).map(([name, warnings]) => {
    const keys = Object.keys(warnings);
    const written = asWrittenIn(mappingAt(document, name), keys, [name]);
    return [name, { ...without(mappingAt(full, name), keys), ...written }] as const;
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
  ];
  if (kind === "shell" && valueAt(document, "entrypoint") !== undefined) {
    const detail = "has no effect on a shell, whose terminals start a login shell";
    warnings.push({ path: "entrypoint", detail });
  }
  return warnings;
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
