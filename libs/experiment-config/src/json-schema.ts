import { z } from "zod";
import type { JsonObject } from "./json.ts";
import { experiment } from "./experiment.ts";
import { exportedAs } from "./parts/values.ts";
import { task } from "./tasks/task.ts";

/**
 * Exports the document's JSON Schema (draft 2020-12) for editors. It cannot express rules across keys, or requirements
 * that defaults fulfil: `parseExperiment` checks these.
 */
export const exportJsonSchema = (): JsonObject =>
  jsonSchemaOf(experiment.schema, "Trainyard experiment");

/** Exports the JSON Schema of a task's document, of any kind. */
export const exportTaskJsonSchema = (): JsonObject => jsonSchemaOf(task.schema, "Trainyard task");

function jsonSchemaOf(document: z.ZodType, title: string): JsonObject {
  const schema = z.toJSONSchema(document, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, exportOf(zodSchema));
    },
  });
  const plain = JSON.parse(JSON.stringify(schema)) as JsonObject;
  return { title, ...plain };
}

/** A schema with a description is a copy, and its parent is the schema that was registered. */
function exportOf(schema: z.core.$ZodType): object | undefined {
  const { parent } = schema._zod;
  return exportedAs.get(schema)?.() ?? (parent && exportOf(parent));
}
