// Reads the bodies of writes, and handles unknown and duplicate fields as the request asks: refused, warned about, or
// ignored. Source: docs, "Kubernetes API Concepts" (validation for unrecognized or duplicate fields).
import { parse } from "yaml";
import { ApiFault, badRequest } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import { apiVersionOf, type Resource } from "../resources.ts";
import type { StructSchema } from "../schemas/schema.ts";
import { decodeObject } from "../validation/decode.ts";
import { duplicateKeys } from "../validation/duplicate-keys.ts";

export type Read = { value: unknown; duplicates: string[] };

export const readBody = (body: string, contentType: string | undefined): Read => {
  const type = (contentType ?? "application/json").split(";")[0]?.trim() ?? "";
  if (/protobuf|cbor/.test(type)) throw unsupported(type);
  if (type.endsWith("yaml") && !/^\s*[{[]/.test(body)) {
    try {
      return { value: parse(body), duplicates: [] };
    } catch (error) {
      throw badRequest(`error converting YAML to JSON: ${String(error)}`);
    }
  }
  try {
    return { value: JSON.parse(body), duplicates: duplicateKeys(body) };
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
};

export const unsupported = (type: string): ApiFault =>
  new ApiFault(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml (${type})`,
  );

export type FieldValidation = "Strict" | "Warn" | "Ignore";

export const fieldValidationOf = (query: URLSearchParams): FieldValidation => {
  const given = query.get("fieldValidation") ?? "Warn";
  if (["", "Warn"].includes(given)) return "Warn";
  if (given === "Strict" || given === "Ignore") return given;
  throw badRequest(
    `fieldValidation: Unsupported value: ${JSON.stringify(given)}: supported values: "Ignore", "Strict", "Warn"`,
  );
};

/** The object of a kind without what its kind lacks. Warnings are texts for the header of the answer. */
export const readObject = (
  { value, duplicates }: Read,
  resource: Resource,
  schema: StructSchema,
  mode: FieldValidation,
  warnings: string[],
): KubeObject => {
  const { apiVersion, kind } = (value ?? {}) as Partial<KubeObject>;
  const expected = apiVersionOf(resource);
  const short = schema.name.split(".").at(-1) ?? "";
  if (kind !== undefined && kind !== "" && kind !== short) {
    throw badRequest(
      `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${short}: converting (${kind}) to (${short}): unknown conversion`,
    );
  }
  if (apiVersion !== undefined && short === resource.kind && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const { object, unknown } = decodeObject(value, schema);
  const notes = [
    ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
  if (notes.length > 0 && mode === "Strict") {
    const version = schema.name.split(".").at(-2);
    throw badRequest(
      `${short} in version "${version}" cannot be handled as a ${short}: strict decoding error: ${notes.join(", ")}`,
    );
  }
  if (mode === "Warn") warnings.push(...notes);
  if (short === resource.kind) {
    object.apiVersion = expected;
    object.kind = short;
  }
  object.metadata ??= { name: "" };
  return object;
};
