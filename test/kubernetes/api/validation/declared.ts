// Values against the declarations of their types: enumerations, and texts and numbers that must be there. Parts of a
// status are left out, since a real server fills what its controllers leave out. Source: API reference.
import type { Schema } from "../schemas/schema.ts";
import type { Report } from "./report.ts";

const SCALARS = ["string", "int", "intOrString"];

export const checkDeclared = (report: Report, value: unknown, schema: Schema, path = ""): void => {
  if (value === null || value === undefined) return;
  if (schema.type === "list") {
    (value as unknown[]).forEach((item, index) =>
      checkDeclared(report, item, schema.item, `${path}[${index}]`),
    );
    return;
  }
  if (schema.type === "map") {
    for (const [key, item] of Object.entries(value))
      checkDeclared(report, item, schema.item, `${path}[${key}]`);
    return;
  }
  if (schema.type === "struct") {
    const fields = value as Record<string, unknown>;
    for (const [field, inner] of schema.fields) {
      if (TYPE_FIELDS.has(field) || (path === "" && SKIPPED.has(field))) continue;
      const there = path === "" ? field : `${path}.${field}`;
      const isAbsent = fields[field] === undefined || fields[field] === "";
      if (isAbsent && schema.required.has(field) && SCALARS.includes(inner.type))
        report.required(there);
      else if (!isAbsent) checkDeclared(report, fields[field], inner, there);
    }
    return;
  }
  if ("values" in schema && schema.values && !schema.values.includes(value as string)) {
    report.unsupported(path, value, [...schema.values].sort());
  }
};

const TYPE_FIELDS = new Set(["apiVersion", "kind"]);
const SKIPPED = new Set(["metadata", "status"]);
