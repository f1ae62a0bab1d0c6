/** Selects the events of a reader. A filter is checked once, and then compared with each event. */
import type { DescField, JsonValue } from "@bufbuild/protobuf";
import { type EventName, eventTypeByName, eventTypes, type Plain } from "@trainyard/contracts";
import type { EventFilter } from "@trainyard/contracts/events";
import {
  categoryOf,
  idOf,
  isExperimentId,
  isRejection,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import { categoryOwners } from "@trainyard/kernel/services";
import type { LeavingEvent } from "./leaving-event.ts";
import { outboundLimits } from "./limits.ts";

/** The facts of an event's experiment or task that filters ask for, as of the delivery. */
export type ExperimentFacts = {
  readonly workspace: string;
  readonly labels: readonly string[];
};

type Condition = { readonly field: string; readonly value: string };

export type Filter = {
  readonly types: ReadonlySet<string>;
  /** The categories of the selected streams; null for all. */
  readonly categories: ReadonlySet<string> | null;
  readonly id: string;
  readonly experiment: string;
  readonly workspace: string;
  readonly label: string;
  readonly where: readonly Condition[];
};

/** The categories of an object's streams, if they differ from the object's kind. */
const categoriesOfObject: Readonly<Record<string, readonly string[]>> = {
  trial: ["trial", "measurement", "logsignal"],
  run: ["allocation"],
};

/** Returns the categories of the streams of a kind of object, which may have no streams. */
export function categoriesOf(object: string): readonly string[] {
  return Object.hasOwn(categoriesOfObject, object) ? (categoriesOfObject[object] ?? []) : [object];
}

/** Returns the checked filter, or a rejection in one sentence. */
export function readFilter(filter: Plain<EventFilter>): Filter | Rejection {
  const { types, object, id, experiment, workspace, label } = filter;
  const { filterPartsMax: most } = outboundLimits;
  if (types.length > most || filter.where.length > most) {
    return invalid(`a filter has at most ${most} types and ${most} conditions`);
  }
  const { filterPartCharactersMax: longest } = outboundLimits;
  const parts = [...types, ...filter.where, object, id, experiment, workspace, label];
  if (parts.some((part) => part.length > longest || part.includes("\0"))) {
    return invalid(`a part of a filter is a text of at most ${longest} characters`);
  }
  const unknown = types.find((type) => !isEventName(type));
  if (unknown !== undefined) {
    return invalid(`"${unknown}" is not the type of an event: docs/events.md lists them`);
  }
  if (object === "" && id !== "") {
    return invalid("id needs an object: the kind of what it names");
  }
  const categories = object === "" ? null : categoriesOf(object);
  if (categories !== null && !categories.every((one) => Object.hasOwn(categoryOwners, one))) {
    return invalid(`"${object}" is not a kind of object, such as experiment, trial or run`);
  }
  if (experiment !== "" && !isExperimentId(experiment)) {
    return invalid(`"${experiment}" is not the number of an experiment`);
  }
  const where = readConditions(filter.where, types as readonly EventName[]);
  if (isRejection(where)) return where;
  return {
    types: new Set(types),
    categories: categories === null ? null : new Set(categories),
    ...{ id, experiment, workspace, label },
    where: where.conditions,
  };
}

/** Whether the filter names events: by type, object or condition. One that does not selects all in its scope. */
export function namesEvents({ types, categories, where }: Filter): boolean {
  return types.size > 0 || categories !== null || where.length > 0;
}

/** Whether an experiment or task is in the filter's experiment, workspace and label. `facts` are its own. */
export function isInScope(
  { experiment, workspace, label }: Filter,
  id: string,
  facts: ExperimentFacts | undefined,
): boolean {
  if (experiment !== "" && id !== experiment) return false;
  if (workspace !== "" && facts?.workspace !== workspace) return false;
  return label === "" || (facts?.labels.includes(label) ?? false);
}

/** Whether the answer depends on the facts of the event's experiment. */
export function needsFacts({ workspace, label }: Filter): boolean {
  return workspace !== "" || label !== "";
}

/** Whether the filter selects the event. `facts` are those of its experiment or task; undefined if it has none. */
export function matches(
  filter: Filter,
  event: LeavingEvent,
  facts: ExperimentFacts | undefined,
): boolean {
  const { types, categories, id, where } = filter;
  const { stream } = event.stored;
  if (types.size > 0 && !types.has(event.name)) return false;
  if (categories !== null && !categories.has(categoryOf(stream))) return false;
  if (id !== "" && idOf(stream) !== id) return false;
  if (!isInScope(filter, event.experiment, facts)) return false;
  return where.every((condition) => holds(condition, event));
}

const isEventName = (name: string): name is EventName =>
  eventTypes.some((type) => type.name === name);

/** Returns the scalar field of an event's body by its name in proto or in JSON. */
function scalarOf(name: EventName, field: string): DescField | undefined {
  const found = eventTypeByName(name).schema.fields.find(
    (one) => one.name === field || one.jsonName === field,
  );
  return found?.fieldKind === "scalar" || found?.fieldKind === "enum" ? found : undefined;
}

function readConditions(
  texts: readonly string[],
  types: readonly EventName[],
): { readonly conditions: readonly Condition[] } | Rejection {
  const conditions: Condition[] = [];
  const names = types.length > 0 ? types : eventTypes.map(({ name }) => name);
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at < 1) return invalid(`"${text}" is not a condition FIELD=VALUE`);
    const field = text.slice(0, at).trim();
    if (!names.some((name) => scalarOf(name, field) !== undefined)) {
      const of = types.length > 0 ? types.join(", ") : "any event";
      return invalid(`"${field}" is not a scalar field of ${of}`);
    }
    conditions.push({ field, value: text.slice(at + 1).trim() });
  }
  return { conditions };
}

/** Whether a field has the value. An absent field has its default, and an event without the field does not match. */
function holds({ field, value }: Condition, { name, data }: LeavingEvent): boolean {
  if (!isEventName(name)) return false;
  const scalar = scalarOf(name, field);
  if (scalar === undefined) return false;
  const found: JsonValue | undefined = data[scalar.jsonName];
  if (scalar.fieldKind === "enum") {
    const { values, sharedPrefix = "" } = scalar.enum;
    const given = found ?? values[0]?.name ?? "";
    return given === value || given === `${sharedPrefix.toUpperCase()}${value}`;
  }
  if (typeof found === "string") return found === value;
  if (typeof found === "number") return found === Number(value) && value !== "";
  if (typeof found === "boolean") return String(found) === value;
  return value === "" || value === "0" || value === "false";
}

const invalid = (detail: string): Rejection => reject("invalid_filter", detail);
