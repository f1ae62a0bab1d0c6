// Failures of the API as Status objects. Source: API reference, "Status"; docs, "API conventions" (reasons and codes).
import type { Resource } from "./resources.ts";

export type Cause = { reason: string; message: string; field: string };

export type Status = {
  kind: "Status";
  apiVersion: "v1";
  metadata: { continue?: string };
  status: "Failure" | "Success";
  message?: string;
  reason?: string;
  details?: { name?: string; group?: string; kind?: string; uid?: string; causes?: Cause[] };
  code?: number;
};

export class ApiFault extends Error {
  readonly status: Status;
  readonly code: number;

  constructor(code: number, reason: string, message: string, details?: Status["details"]) {
    super(message);
    this.code = code;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      code,
    };
    if (details) this.status.details = details;
  }
}

/** "deployments.apps", and "pods" of the core group. */
export const qualified = (resource: Resource): string => grouped(resource.plural, resource.group);

const grouped = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);

const detailsOf = (resource: Resource, name: string): NonNullable<Status["details"]> => ({
  name,
  ...(resource.group === "" ? {} : { group: resource.group }),
  kind: resource.plural,
});

export const notFound = (resource: Resource, name: string): ApiFault =>
  new ApiFault(
    404,
    "NotFound",
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource, name),
  );

export const alreadyExists = (resource: Resource, name: string): ApiFault =>
  new ApiFault(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );

export const conflict = (resource: Resource, name: string, why: string): ApiFault =>
  new ApiFault(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

export const staleVersion = (resource: Resource, name: string): ApiFault =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

export const forbidden = (resource: Resource, name: string, why: string): ApiFault =>
  new ApiFault(
    403,
    "Forbidden",
    `${qualified(resource)}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`,
    detailsOf(resource, name),
  );

export const badRequest = (message: string): ApiFault => new ApiFault(400, "BadRequest", message);

/** One wrong value, by its path. */
export type FieldError = { field: string; reason: keyof typeof REASONS; message: string };

const REASONS = {
  required: "FieldValueRequired",
  invalid: "FieldValueInvalid",
  notSupported: "FieldValueNotSupported",
  duplicate: "FieldValueDuplicate",
  forbidden: "FieldValueForbidden",
  tooLong: "FieldValueTooLong",
  tooMany: "FieldValueTooMany",
  typeInvalid: "FieldValueTypeInvalid",
  notFound: "FieldValueNotFound",
} as const;

export const invalid = (
  resource: Resource,
  name: string,
  errors: readonly FieldError[],
): ApiFault => {
  const causes = errors.map(({ field, reason, message }) => ({
    reason: REASONS[reason],
    message,
    field,
  }));
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new ApiFault(
    422,
    "Invalid",
    `${grouped(resource.kind, resource.group)} "${name}" is invalid: ${list}`,
    {
      name,
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.kind,
      causes,
    },
  );
};
