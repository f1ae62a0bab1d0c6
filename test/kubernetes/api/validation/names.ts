// The syntax of names, labels, keys and ports. Source: docs, "Object Names and IDs", "Labels and Selectors",
// "Annotations", "ConfigMaps", "Define Environment Variables for a Container"; RFC 1035, RFC 1123, RFC 6335.
import type { Fields } from "../object-store.ts";
import type { Report } from "./report.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const ENVIRONMENT = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const KEY = /^[-._a-zA-Z0-9]+$/;
const ANNOTATIONS_MAX = 256 * 1024;

export const isDnsSubdomain = (name: string): boolean => name.length <= 253 && SUBDOMAIN.test(name);
export const isServiceName = (name: string): boolean => name.length <= 63 && LABEL_1035.test(name);

export const checkDnsLabel = (report: Report, field: string, name: string | undefined): void => {
  if (!name) report.required(field);
  else if (name.length > 63) report.invalid(field, name, "must be no more than 63 bytes");
  else if (!LABEL.test(name)) {
    report.invalid(
      field,
      name,
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    );
  }
};

export const checkSubdomain = (report: Report, field: string, name: string | undefined): void => {
  if (!name) report.required(field);
  else if (name.length > 253) report.invalid(field, name, "must be no more than 253 bytes");
  else if (!SUBDOMAIN.test(name)) {
    report.invalid(
      field,
      name,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    );
  }
};

export const checkServiceName = (report: Report, field: string, name: string): void => {
  if (isServiceName(name)) return;
  report.invalid(
    field,
    name,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  );
};

export const checkQualifiedName = (report: Report, field: string, key: string): void => {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  const isNamed = name.length <= 63 && QUALIFIED.test(name);
  if (parts.length > 2 || !isNamed || (parts.length === 2 && !isDnsSubdomain(parts[0] ?? ""))) {
    report.invalid(
      field,
      key,
      "name part must consist of alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain prefix and '/'",
    );
  }
};

export const checkLabels = (report: Report, field: string, labels: Fields | undefined): void => {
  for (const [key, value] of Object.entries(labels ?? {})) {
    checkQualifiedName(report, field, key);
    if (typeof value !== "string" || value === "") continue;
    if (value.length > 63) report.invalid(field, value, "must be no more than 63 bytes");
    else if (!QUALIFIED.test(value)) {
      report.invalid(
        field,
        value,
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      );
    }
  }
};

export const checkAnnotations = (
  report: Report,
  field: string,
  annotations: Fields | undefined,
): void => {
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    checkQualifiedName(report, field, key.toLowerCase());
    size += key.length + Buffer.byteLength(String(value));
  }
  if (size > ANNOTATIONS_MAX) report.tooLong(field, ANNOTATIONS_MAX);
};

/** A port's name: at most 15 characters, one of them a letter. */
export const checkPortName = (report: Report, field: string, name: string): void => {
  if (name.length > 15) report.invalid(field, name, "must be no more than 15 bytes");
  else if (
    !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) ||
    name.includes("--") ||
    !/[a-z]/.test(name)
  ) {
    report.invalid(
      field,
      name,
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), and at least one letter",
    );
  }
};

export const checkPort = (report: Report, field: string, port: number): void => {
  if (port < 1 || port > 65_535)
    report.invalid(field, port, "must be between 1 and 65535, inclusive");
};

/** A number, or the name of a port. */
export const checkPortReference = (
  report: Report,
  field: string,
  port: number | string | undefined,
): void => {
  if (port === undefined) report.required(field);
  else if (typeof port === "number") checkPort(report, field, port);
  else checkPortName(report, field, port);
};

export const checkEnvironmentName = (
  report: Report,
  field: string,
  name: string | undefined,
): void => {
  if (!name) report.required(field);
  else if (!ENVIRONMENT.test(name)) {
    report.invalid(
      field,
      name,
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    );
  }
};

export const checkDataKey = (report: Report, field: string, key: string): void => {
  if (key.length > 253) report.invalid(field, key, "must be no more than 253 bytes");
  else if (!KEY.test(key) || key === "." || key.startsWith("..")) {
    report.invalid(
      field,
      key,
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    );
  }
};

export const checkSelector = (
  report: Report,
  field: string,
  selector: Fields | undefined,
): void => {
  checkLabels(report, `${field}.matchLabels`, selector?.matchLabels);
  for (const [index, { key, operator, values = [] }] of (
    (selector?.matchExpressions ?? []) as Fields[]
  ).entries()) {
    const there = `${field}.matchExpressions[${index}]`;
    checkQualifiedName(report, `${there}.key`, key ?? "");
    const lists = operator === "In" || operator === "NotIn";
    if (!lists && !["Exists", "DoesNotExist"].includes(operator)) {
      report.invalid(`${there}.operator`, operator, "not a valid selector operator");
    } else if (lists && values.length === 0) {
      report.required(`${there}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (!lists && values.length > 0) {
      report.forbidden(
        `${there}.values`,
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      );
    }
  }
};

/** Whether labels are those that a selector wants. */
export const isSelected = (selector: Fields | undefined, labels: Fields = {}): boolean =>
  Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
  ((selector?.matchExpressions ?? []) as Fields[]).every(({ key, operator, values = [] }) => {
    if (operator === "Exists") return Object.hasOwn(labels, key);
    if (operator === "DoesNotExist") return !Object.hasOwn(labels, key);
    const has = Object.hasOwn(labels, key) && values.includes(labels[key]);
    return operator === "In" ? has : !has;
  });

/** Two of a list must not be equal. */
export const checkUnique = (
  report: Report,
  items: readonly { field: string; value: unknown }[],
): void => {
  const seen = new Set<unknown>();
  for (const { field, value } of items) {
    if (seen.has(value)) report.duplicate(field, value);
    seen.add(value);
  }
};
