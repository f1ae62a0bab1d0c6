/**
 * Reading and checking a configuration here. The libraries that know it are loaded by those commands only that need
 * them.
 */
import { readFile } from "node:fs/promises";
import type { ParsedExperiment, RecordedTrainings } from "@trainyard/experiment-config";
import { isRejection, type Rejection } from "@trainyard/kernel";
import { Option } from "commander";
import { callerPath } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** `--config a.b=c`, as often as wanted. */
export function overrides(): Option {
  return new Option("--config <key=value>", "set a key over the file's, repeatable")
    .default([])
    .argParser((value: string, before: readonly string[]) => [...before, value]);
}

/**
 * An experiment's YAML text, empty for no file; the overrides, given by `option`, are looked at only for their form.
 */
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

// A cluster has a storage of its own for configurations that name none.
const defaults = { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } };

/** A configuration by the rules that every cluster has; what is wrong with it is a usage error, a line a key. */
export async function parseHere(text: string, given: readonly string[]): Promise<ParsedExperiment> {
  const { acceptExperiment } = await import("@trainyard/search");
  return rightOnly(acceptExperiment(text, { overrides: given, defaults }));
}

/** A configuration for a search against trainings that are recorded. */
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
