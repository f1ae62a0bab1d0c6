/** The keys that are recorded as they were written, without defaults, and those with credentials. */
import { searcherAsWritten } from "../searcher/schema.ts";
import { environment } from "./environment.ts";
import { profiling } from "./profiling.ts";
import { resources } from "./resources.ts";
import { checkpointStorage, tensorboardStorage } from "./storage.ts";
import { unusedSections } from "./without-effect.ts";

const inside: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  resources: resources.asWritten,
  environment: environment.asWritten,
  profiling: profiling.asWritten,
  searcher: searcherAsWritten,
  checkpoint_storage: checkpointStorage.asWritten,
  tensorboard_storage: tensorboardStorage.asWritten,
};

/** The paths of the keys, each with the warning about it. */
export const keysAsWritten: readonly {
  readonly path: readonly string[];
  readonly warning: string;
}[] = [
  ...Object.entries(unusedSections).map(([key, { warning }]) => ({ path: [key], warning })),
  ...Object.entries(inside).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, warning]) => ({ path: [section, key], warning })),
  ),
];

/** Returns the keys of a section, or of the document, that are recorded as they were written. */
export function keysAsWrittenIn(section?: string): readonly string[] {
  return Object.keys(section === undefined ? unusedSections : (inside[section] ?? {}));
}

/** The paths that contain credentials: they are dropped because a normalised configuration is written into the log. */
export const pathsOfSecrets: readonly (readonly string[])[] = [
  ["environment", "registry_auth"],
  ["integrations", "pachyderm"],
  ["data_layer", "access_key"],
  ["data_layer", "secret_key"],
];
