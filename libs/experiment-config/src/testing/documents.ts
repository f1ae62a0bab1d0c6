/** Documents for the tests. */
import { isRejection } from "@trainyard/kernel";
import type { NormalisedConfig } from "../config.ts";
import type { JsonObject } from "../json.ts";
import { type ParsedExperiment, type ParseOptions, parseExperiment } from "../parse.ts";

export const directory = { type: "directory", container_path: "/checkpoints" };
export const defaults: JsonObject = { checkpoint_storage: directory };

/** Returns a valid configuration; `more` is added and overrides its keys. */
export function yaml(more = "", drop: readonly string[] = []): string {
  const base = ["entrypoint: python3 train.py", "searcher: {name: single, metric: loss}"];
  const replaced = (line: string): boolean => {
    const key = line.split(":")[0] ?? "";
    return drop.includes(key) || new RegExp(`^${key}:`, "m").test(more);
  };
  return [...base.filter((line) => !replaced(line)), more].join("\n");
}

export function parsed(text: string, options: ParseOptions = { defaults }): ParsedExperiment {
  const result = parseExperiment(text, options);
  if (isRejection(result)) throw new Error(result.detail);
  return result;
}

export const config = (more = "", options?: ParseOptions): NormalisedConfig =>
  parsed(yaml(more), options).config;

export function problems(text: string, options: ParseOptions = { defaults }): string[] {
  const result = parseExperiment(text, options);
  if (!isRejection(result)) return [];
  if (result.rejected !== "invalid_config") throw new Error(`rejected as ${result.rejected}`);
  return (result.problems ?? []).map(({ path, detail }) => `${path} ${detail}`);
}

export const grid = "searcher: {name: grid, metric: loss}\n";
