/** Environment variables, by the kind of device; `gpu` is the older name of `cuda`. */
import { isMapping, type Json, type JsonObject, valueAt } from "../json.ts";
import { asList } from "../parts/lists.ts";

export const devices = ["cpu", "cuda", "rocm"] as const;
export type VariablesByDevice = { cpu: string[]; cuda: string[]; rocm: string[] };

/** Returns the variables of each kind of device; if a name is given twice, the later value counts. */
export function variablesByDevice(value: Json | undefined): VariablesByDevice {
  const listFor = (device: (typeof devices)[number]): string[] =>
    lastOfEachName(listAt(value ?? null, device).filter((one) => typeof one === "string"));
  return { cpu: listFor("cpu"), cuda: listFor("cuda"), rocm: listFor("rocm") };
}

/** A list without devices applies to each of them. */
export function listAt(value: Json, device: (typeof devices)[number]): Json[] {
  if (!isMapping(value)) return asList(value);
  const older = device === "cuda" ? (valueAt(value, "gpu") ?? null) : null;
  return asList(valueAt(value, device) ?? older);
}

export function eachDevice(listFor: (device: (typeof devices)[number]) => Json[]): JsonObject {
  return Object.fromEntries(devices.map((device) => [device, listFor(device)]));
}

const nameOf = (variable: string): string => {
  const sign = variable.indexOf("=");
  return sign < 0 ? variable : variable.slice(0, sign);
};

function lastOfEachName(variables: readonly string[]): string[] {
  const last = new Map<string, string>();
  for (const variable of variables) {
    last.delete(nameOf(variable));
    last.set(nameOf(variable), variable);
  }
  return [...last.values()];
}
