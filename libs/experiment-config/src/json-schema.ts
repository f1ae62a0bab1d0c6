import { z } from "zod";
import { described } from "./descriptions.ts";
import type { JsonObject } from "./json.ts";
import { earlyStoppingPolicy } from "./early-stopping/schema.ts";
import { experiment } from "./experiment.ts";
import { hyperparameter } from "./hyperparameters/schema.ts";
import { exportedAs } from "./parts/values.ts";

/**
 * Exports the document's JSON Schema (draft 2020-12) for editors. It cannot express rules across keys, or requirements
 * that defaults fulfil: `parseExperiment` checks these.
 */
export function exportJsonSchema(): JsonObject {
  const registry = z.registry<{ id?: string }>();
  registry.add(hyperparameter, { id: "hyperparameter" });
  registry.add(earlyStoppingPolicy, { id: "early_stopping_policy" });
  const schema = z.toJSONSchema(experiment.schema, {
    io: "input",
    metadata: registry,
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, exportedAs.get(zodSchema)?.());
    },
  });
  const plain = JSON.parse(JSON.stringify(schema)) as JsonObject;
  return { title: "Trainyard experiment", ...described(plain) };
}
