/** The document of a task of any kind, as a tree of parts. */
import type { Part } from "../parts/part.ts";
import * as values from "../parts/values.ts";
import { schemasOf, sectionPart } from "../sections/module.ts";
import { IN_CONTAINERS } from "../sections/module.ts";
import { checkpointStorage } from "../sections/storage.ts";
import { bindMounts } from "../sections/without-effect.ts";
import { taskDocument } from "./document.ts";
import { taskEnvironment } from "./environment.ts";
import { taskResources } from "./resources.ts";

const parts: Readonly<Record<string, Part>> = {
  ...taskDocument.parts(values),
  resources: sectionPart(taskResources, values),
  environment: sectionPart(taskEnvironment, values),
  checkpoint_storage: checkpointStorage.parts(values).part,
  bind_mounts: bindMounts,
};

export const task: Part = {
  schema: values.section({ ...taskDocument.keys(values), ...schemasOf(parts) }),
  parts,
  defaults: { ...taskDocument.defaults, resources: {}, environment: {} },
};

type Warnings = Readonly<Record<string, string>>;

/** The keys that are recorded as they were written, each with the warning about it, by section. */
export const taskAsWritten: {
  readonly document: Warnings;
  readonly sections: Readonly<Record<"resources" | "environment" | "checkpoint_storage", Warnings>>;
} = {
  document: { ...taskDocument.asWritten, bind_mounts: IN_CONTAINERS },
  sections: {
    resources: taskResources.asWritten,
    environment: taskEnvironment.asWritten,
    checkpoint_storage: checkpointStorage.asWritten,
  },
};
