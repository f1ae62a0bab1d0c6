/** Reads and checks a configuration on this machine. Only the commands that need them load the libraries for it. */
import { readFile } from "node:fs/promises";
import type { ParsedExperiment, RecordedTrainings } from "@trainyard/experiment-config";
import { isRejection, type Rejection } from "@trainyard/kernel";
import { Option } from "commander";
import { callerPath } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** The option `--config a.b=c`, which may be repeated. */
export function overrides(): Option {
  return new Option("--config <key=value>", "set a key over the file's, repeatable")
    .default([])
    .argParser((value: string, before: readonly string[]) => [...before, value]);
}

/** Reads the YAML of an experiment; empty without a file. Of the overrides, only the form is checked. */
export async function readConfig(
  file: string | undefined,
  given: readonly string[],
  option = "--config",
): Promise<string> {
  for (const override of given) {
    if (!override.includes("=")) {
      throw new UsageError(`${option} takes key=value, not ${JSON.stringify(override)}.`);
    }
  }
  if (file === undefined) return "";
  return await readFile(callerPath(file), "utf8").catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? message})`;
    throw new UsageError(`The configuration ${file} ${why}.`);
  });
}

// Stands for the default storage of a cluster, since a configuration need not name a storage.
const defaults = { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } };

/** Parses a configuration by the rules that every cluster has. Throws a UsageError with one line per wrong key. */
export async function parseHere(text: string, given: readonly string[]): Promise<ParsedExperiment> {
  const { acceptExperiment } = await import("@trainyard/search");
  return rightOnly(acceptExperiment(text, { overrides: given, defaults }));
}

/** Parses the configuration of a search that runs on recorded trainings. */
export async function parseForTable(
  text: string,
  given: readonly string[],
  recorded: RecordedTrainings,
): Promise<ParsedExperiment> {
  const { parseForRecorded } = await import("@trainyard/experiment-config");
  return rightOnly(parseForRecorded(text, { overrides: given, defaults }, recorded));
}

function rightOnly(parsed: ParsedExperiment | Rejection): ParsedExperiment {
  if (!isRejection(parsed)) return parsed;
  const problems = parsed.problems ?? [];
  throw new UsageError(
    problems.map(({ path, detail }) => (path === "" ? detail : `${path}: ${detail}`)).join("\n"),
  );
}
