/**
 * Finds the producers and readers of an event in the code of services and libs.
 *
 * A producer builds the event (`type: "RunEnded"`) in its owner or in a lib. A reaction is a key of a ReactionHandlers.
 * Every other service that names the event folds it or shows it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryFiles } from "../repository-files.ts";
import { root } from "../root.ts";

export type Source = { readonly path: string; readonly text: string };

export type Readers = {
  readonly isProduced: boolean;
  /** Services that react to the event: their cursor moves in the same commit as the reaction. */
  readonly reacts: readonly string[];
  /** Other services that read the event. */
  readonly reads: readonly string[];
};

/** The sources that run in production: no tests, no test helpers, no generated code. */
export function runningCode(): readonly Source[] {
  return repositoryFiles()
    .filter((path) => /^(services|libs)\/[^/]+\/src\/.*\.ts$/.test(path))
    .filter((path) => !/\.test\.ts$|\/testing\/|^libs\/(contracts|testing)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

export function readersOf(
  event: { readonly name: string; readonly owner: string },
  sources: readonly Source[],
): Readers {
  const { name, owner } = event;
  const isBuilt = new RegExp(`\\btype: "${name}"`);
  const isHandled = new RegExp(`^\\s+(async )?${name}[:,(]`, "m");
  const isNamed = new RegExp(`(case |[!=]== )"${name}"`);
  const produced = sources.filter(
    ({ path, text }) =>
      (path.startsWith(`services/${owner}/`) || path.startsWith("libs/")) && isBuilt.test(text),
  );
  const handles = ({ text }: Source, kind: string): boolean =>
    text.includes(kind) && isHandled.test(text);
  const reacts = servicesOf(sources.filter((source) => handles(source, "ReactionHandlers")));
  const reads = servicesOf(
    sources.filter((source) => isNamed.test(source.text) || handles(source, "Projections")),
  );
  return {
    isProduced: produced.length > 0,
    reacts,
    reads: reads.filter((service) => service !== owner && !reacts.includes(service)),
  };
}

function servicesOf(sources: readonly Source[]): readonly string[] {
  const services = sources.flatMap(({ path }) => /^services\/([^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(services)].toSorted();
}
