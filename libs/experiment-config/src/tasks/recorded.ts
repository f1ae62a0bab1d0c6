/**
 * The reader of recorded configurations of tasks, in events, commands and launches. It loads neither the YAML parser
 * nor the schema library. `recordedContainer` and `proxyPortsOf` read them too.
 */
import type { CheckpointStorage } from "../config.ts";
import { isMapping, type JsonObject, mappingAt, valueAt, without, withRest } from "../json.ts";
import { type RequestedResources, requestedResources } from "../requested-resources.ts";
import { checkpointStorage } from "../sections/storage.ts";
import { taskDocument } from "./document.ts";
import { taskEnvironment } from "./environment.ts";
import { taskResources } from "./resources.ts";

export const taskKinds = ["command", "shell", "notebook", "tensorboard"] as const;
export type TaskKind = (typeof taskKinds)[number];

/** The kinds that are a server of the platform, with a page of their own. */
const kindsWithPage: readonly string[] = ["notebook", "tensorboard"];

/** Whether a task of this kind has a page of its own, besides those of its ports. */
export const hasPage = (kind: string): boolean => kindsWithPage.includes(kind);

/** Whether the folder of a task is saved, so that the task can be paused and resumed. */
export function keepsWork(kind: string, { keep_work }: { readonly keep_work: boolean }): boolean {
  return kind === "notebook" || kind === "shell" || (kind === "command" && keep_work);
}

/** The normalised configuration of a task as plain JSON, which fits a protobuf Struct unchanged. */
export type TaskConfig = ReturnType<typeof taskConfig>;

/** Reads a recorded configuration; never fails: absent or malformed values get their defaults. */
export function taskConfig(struct: unknown) {
  const recorded = isMapping(struct) ? struct : {};
  return withRest(
    {
      ...taskDocument.read(recorded),
      resources: taskResources.read(mappingAt(recorded, "resources")),
      environment: taskEnvironment.read(mappingAt(recorded, "environment")),
      ...storageIn(recorded),
    },
    without(recorded, ["checkpoint_storage"]),
  );
}

/** Reads the storage of the saves, which only tasks that keep their work have. */
function storageIn(recorded: JsonObject): { readonly checkpoint_storage?: CheckpointStorage } {
  const section = valueAt(recorded, "checkpoint_storage");
  return isMapping(section) ? { checkpoint_storage: checkpointStorage.read(section) } : {};
}

/** The resources that every run of a task requests: all slots on one agent. */
export function requestedTaskResources({
  resources,
  preemption_timeout,
}: Pick<TaskConfig, "resources" | "preemption_timeout">): RequestedResources {
  return requestedResources({
    resources: { ...resources, slots_per_trial: resources.slots, is_single_node: true },
    preemption_timeout,
  });
}

/** The characters of a command that lists show as the name of a task without one. */
const NAME_CHARACTERS_MAX = 60;

/**
 * Returns the name that lists show: the configuration's, or else the beginning of the command, or else the kind with
 * the sources of a TensorBoard.
 */
export function taskName(
  { name, entrypoint }: TaskConfig,
  kind: TaskKind,
  sources: readonly string[] = [],
): string {
  if (name !== "") return name;
  const command = (Array.isArray(entrypoint) ? entrypoint.join(" ") : entrypoint).trim();
  const line = command.replaceAll(/\s+/g, " ") || [kind, ...sources].join(" ");
  const characters = [...line];
  return characters.length <= NAME_CHARACTERS_MAX
    ? line
    : `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…`;
}
