/** A case of Determined's experiment configuration: a verdict, the defaults, or a merge of one part of it. */
import { type ConfigPart, configPart, type Json } from "@trainyard/experiment-config";
import type { Case } from "./case-file.ts";
import { difference } from "./same.ts";

type ExpconfCase = Case & {
  readonly case: Json;
  readonly sane_as?: readonly string[];
  readonly sanity_errors?: Readonly<Record<string, readonly string[]>>;
  readonly complete_as?: readonly string[];
  readonly completeness_errors?: Readonly<Record<string, readonly string[]>>;
  readonly default_as?: string;
  readonly defaulted?: Json;
  readonly merge_as?: string;
  readonly merge_src?: Json;
  readonly merged?: Json;
};

/** The seed is arbitrary, since any drawn default is accepted. */
const SEED = 1;

const askable = ["sane_as", "sanity_errors", "complete_as", "completeness_errors"] as const;

export function expconfDifference(one: Case): string | null {
  const asked = one as ExpconfCase;
  const differences = [
    ...(asked.sane_as ?? []).map((url) => accepted(asked, url, "sanity")),
    ...Object.keys(asked.sanity_errors ?? {}).map((url) => refused(asked, url, "sanity")),
    ...(asked.complete_as ?? []).map((url) => accepted(asked, url, "completeness")),
    ...Object.keys(asked.completeness_errors ?? {}).map((url) =>
      refused(asked, url, "completeness"),
    ),
  ];
  if (asked.default_as !== undefined) {
    const given = partAt(asked.default_as).withDefaults(asked.case, SEED);
    differences.push(within("with defaults", difference(given, asked.defaulted)));
  }
  if (asked.merge_as !== undefined) {
    const given = partAt(asked.merge_as).merge(asked.case, asked.merge_src ?? null);
    differences.push(within("merged", difference(given, asked.merged)));
  }
  const nothing = askable.every((key) => asked[key] === undefined);
  if (nothing && differences.length === 0) return "it asks nothing that is known";
  return differences.find((found) => found !== null) ?? null;
}

const within = (what: string, found: string | null): string | null =>
  found === null ? null : `${what}: ${found}`;

/** A part is named by the last component of its schema's address. */
function partAt(url: string): ConfigPart {
  const name = nameOf(url);
  const part = configPart(name);
  if (part === undefined) throw new Error(`the configuration has no part called ${name}`);
  return part;
}

function nameOf(url: string): string {
  return (url.split("/").at(-1) ?? url).replace(/\.json$/, "");
}

type Stage = "sanity" | "completeness";

function accepted(asked: ExpconfCase, url: string, stage: Stage): string | null {
  const problems = partAt(url)[stage](asked.case);
  if (problems.length === 0) return null;
  const told = problems.map(({ path, detail }) => `${path === "" ? "it" : path} ${detail}`);
  return `${stage} of ${nameOf(url)}: expected to be accepted; ${told.join("; ")}`;
}

function refused(asked: ExpconfCase, url: string, stage: Stage): string | null {
  if (partAt(url)[stage](asked.case).length > 0) return null;
  const expected = (asked[stage === "sanity" ? "sanity_errors" : "completeness_errors"] ?? {})[url];
  return `${stage} of ${nameOf(url)}: expected to be refused (${(expected ?? []).join("; ")}) and is accepted`;
}
