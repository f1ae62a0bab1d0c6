// Label and field selectors. Source: docs, "Labels and Selectors", "Field Selectors".
import { badRequest } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";

export type Selection = (object: KubeObject) => boolean;

type Labels = Readonly<Record<string, string>>;

const NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export const labelSelection = (text: string): Selection => {
  const tests = splitOutsideBrackets(text).map((part) => requirement(part, text));
  return (object) => tests.every((matches) => matches(object.metadata.labels ?? {}));
};

/** Commas within "in (a, b)" separate values. */
const splitOutsideBrackets = (text: string): string[] =>
  (text.match(/[^,(]*\([^)]*\)[^,]*|[^,]+/g) ?? [])
    .map((part) => part.trim())
    .filter((part) => part !== "");

const requirement = (part: string, whole: string): ((labels: Labels) => boolean) => {
  const refused = () =>
    badRequest(`unable to parse requirement: found '${part}' in ${JSON.stringify(whole)}`);
  const named = (key: string): string => {
    if (!NAME.test(key)) throw refused();
    return key;
  };
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  if (set) {
    const [, key = "", operator, list = ""] = set;
    const name = named(key);
    const values = new Set(list.split(",").map((value) => value.trim()));
    return operator === "in"
      ? (labels) => Object.hasOwn(labels, name) && values.has(labels[name] ?? "")
      : (labels) => !Object.hasOwn(labels, name) || !values.has(labels[name] ?? "");
  }
  const equal = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
  if (equal) {
    const [, key = "", operator, value = ""] = equal;
    const name = named(key);
    return operator === "!="
      ? (labels) => labels[name] !== value
      : (labels) => Object.hasOwn(labels, name) && labels[name] === value;
  }
  if (part.startsWith("!")) {
    const name = named(part.slice(1).trim());
    return (labels) => !Object.hasOwn(labels, name);
  }
  const name = named(part);
  return (labels) => Object.hasOwn(labels, name);
};

/** The fields that a kind's selectors may name, beside its name and namespace. Source: docs, "Field Selectors". */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Pod: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  Event: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  Secret: ["type"],
  Namespace: ["status.phase"],
  ReplicaSet: ["status.replicas"],
  Job: ["status.successful"],
  Node: ["spec.unschedulable"],
};

export const fieldSelection = (text: string, resource: Resource): Selection => {
  const allowed = ["metadata.name", ...(resource.namespaced ? ["metadata.namespace"] : [])];
  const tests = text
    .split(",")
    .filter((part) => part !== "")
    .map((part): Selection => {
      const [, field = "", operator = "", value = ""] = /^([^=!]+)(==|=|!=)(.*)$/.exec(part) ?? [];
      if (operator === "")
        throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
      if (![...allowed, ...(FIELDS[resource.kind] ?? [])].includes(field)) {
        throw badRequest(`field label not supported: ${field}`);
      }
      return (object) => (valueAt(object, field) === value) === (operator !== "!=");
    });
  return (object) => tests.every((matches) => matches(object));
};

const valueAt = (object: KubeObject, field: string): string => {
  let value: unknown = object;
  for (const step of field.split("."))
    value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined || value === null ? "" : String(value);
};

/** An object must match the two selectors of a request. */
export const selectionOf = (query: URLSearchParams, resource: Resource): Selection => {
  const byLabels = labelSelection(query.get("labelSelector") ?? "");
  const byFields = fieldSelection(query.get("fieldSelector") ?? "", resource);
  return (object) => byLabels(object) && byFields(object);
};

/** The name that a field selector asks for, by which rules with resourceNames allow lists. */
export const selectedName = (query: URLSearchParams): string | null =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1] ?? null;
