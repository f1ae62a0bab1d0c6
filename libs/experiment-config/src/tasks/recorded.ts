/**
 * The reader of recorded configurations of tasks, in events, commands and launches. It loads neither the YAML parser
 * nor the schema library. `recordedContainer` and `proxyPortsOf` read them too.
 */
import { isMapping, mappingAt, withRest } from "../json.ts";
import { type RequestedResources, requestedResources } from "../requested-resources.ts";
import { taskDocument } from "./document.ts";
import { taskEnvironment } from "./environment.ts";
import { taskResources } from "./resources.ts";

export const taskKinds = ["command", "shell"] as const;
export type TaskKind = (typeof taskKinds)[number];

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
    },
    recorded,
  );
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

/** Returns the name that lists show: the configuration's, or else the beginning of the command. */
export function taskName({ name, entrypoint }: TaskConfig, kind: TaskKind): string {
  if (name !== "") return name;
  const command = (Array.isArray(entrypoint) ? entrypoint.join(" ") : entrypoint).trim();
  const line = command.replaceAll(/\s+/g, " ");
  if (line === "") return kind;
  const characters = [...line];
  return characters.length <= NAME_CHARACTERS_MAX
    ? line
    : `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…`;
}
