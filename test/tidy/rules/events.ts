import { eventTypes, upcasters } from "@trainyard/contracts";
import { categoryOwners } from "@trainyard/kernel/services";
import type { Repository, Rule } from "../rule.ts";

type Entry = { readonly type: string; readonly owner: string };

/** Exported for the self-test, which has its own catalogue. */
export function eventProblems(
  { files }: Pick<Repository, "files">,
  entries: readonly Entry[],
  oldTypes: readonly string[],
): readonly string[] {
  const present = new Set(files);
  const problems = entries.flatMap(({ type, owner }) => [
    ...(owner === "" ? [`${type} has no owner`] : []),
    ...(owner !== "" && !present.has(`services/${owner}/package.json`)
      ? [`${type} is owned by ${owner}, which is no service`]
      : []),
  ]);
  const unfrozen = [...entries.map(({ type }) => type), ...oldTypes]
    .filter((type) => !present.has(`test/compat/events/${type}.body`))
    .map((type) => `${type} has no fixture in test/compat/events`);
  return [...problems, ...unfrozen];
}

export const catalogued: Rule = {
  name: "every event of the catalogue has an owner and a frozen fixture",
  check: (repository) => [
    ...eventProblems(repository, eventTypes, Object.keys(upcasters)),
    ...Object.entries(categoryOwners)
      .filter(([, owner]) => !repository.files.includes(`services/${owner}/package.json`))
      .map(([category, owner]) => `${category}-* is owned by ${owner}, which is no service`),
  ],
  // The real catalogue with a repository that lacks all of it.
  violations: { "no fixtures, no services": { "README.md": "" } },
  kept: Object.fromEntries<string>([
    ...Object.values(categoryOwners).map((owner): [string, string] => [
      `services/${owner}/package.json`,
      "{}",
    ]),
    ...[...eventTypes.map(({ type }) => type), ...Object.keys(upcasters)].map(
      (type): [string, string] => [`test/compat/events/${type}.body`, "{}"],
    ),
  ]),
};
