/** The hyperparameters of a configuration that are the same in every trial. */
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { Json, JsonObject } from "@trainyard/kernel";

export function constantsOf(config: unknown): JsonObject {
  return constants(recordedConfig(config).hyperparameters);
}

function constants(space: HyperparameterSpace): JsonObject {
  const found: Record<string, Json> = {};
  for (const [key, node] of Object.entries(space)) {
    if (!isTyped(node)) found[key] = constants(node);
    else if (node.type === "const" && node.when === undefined) found[key] = node.val;
  }
  return found;
}

type Node = HyperparameterSpace[string];

function isTyped(node: Node): node is Extract<Node, { readonly type: string }> {
  return typeof node.type === "string";
}
