import {
  isMapping,
  type Json,
  type JsonObject,
  mappingAt,
  textAt,
  textsAt,
  valueAt,
  withRest,
} from "./json.ts";
import { memoryBytes } from "./memory-size.ts";

/** Conditions on the agents and devices of a run; each of its agents must meet all of them. */
export type PlaceConstraints = {
  /** cpu, cuda or rocm; empty for any. */
  readonly device: string;
  /** The minimum memory of each device, in bytes. */
  readonly device_memory: number;
  /** Labels by name, each with its allowed values; an empty list allows any value. */
  readonly require: LabelRules;
  /** Agents that match more of these rules are preferred. */
  readonly prefer: LabelRules;
  readonly forbid: LabelRules;
  readonly exclude_agents: string[];
  /** All agents of a run must have the same value of this label; empty for no condition. */
  readonly same_label: string;
};

export type LabelRules = Readonly<Record<string, string[]>>;

/** Reads the constraints of a written or recorded configuration; absent or malformed constraints require nothing. */
export function readConstraints(constraints: JsonObject): PlaceConstraints {
  const read = {
    device: textAt(constraints, "device"),
    device_memory: memoryBytes(valueAt(constraints, "device_memory")) ?? 0,
    require: readRules(mappingAt(constraints, "require")),
    prefer: readRules(mappingAt(constraints, "prefer")),
    forbid: readRules(mappingAt(constraints, "forbid")),
    exclude_agents: textsAt(constraints, "exclude_agents"),
    same_label: textAt(constraints, "same_label"),
  };
  return withRest(read, constraints);
}

/** Sorts the rules by key, whatever their written order. */
function readRules(rules: JsonObject): LabelRules {
  const names = Object.keys(rules).sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = valuesOf(valueAt(rules, name));
      return values === null ? [] : [[name, values]];
    }),
  );
}

/** Returns null for a value that is no rule. */
function valuesOf(value: Json | undefined): string[] | null {
  if (value === true) return [];
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  if (!Array.isArray(value) || isMapping(value)) return null;
  const values = value.filter((one) => typeof one === "string" || typeof one === "number");
  return values.length === 0 && value.length > 0 ? null : values.map(String);
}
