/** The resources of a trial: slots, placement, and keys without effect. */
import { isName } from "@trainyard/kernel";
import { z } from "zod";
import { defaults } from "../defaults.ts";
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import { isMapping, type Json, keyPath, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import { uniteBy } from "../parts/lists.ts";
import type { Check, Part } from "../parts/part.ts";
import { anyText, count, entry, flag, number, oneOf, section, text } from "../parts/values.ts";
import { constraints, memory } from "./constraints.ts";

/** "" means the default pool, as in Determined. */
const pool = z.string().refine((name) => name === "" || isName(name), {
  error: "must be a pool's name: up to 63 letters, digits, dots, dashes and underscores",
});

const deviceShape =
  'a mapping of host_path, container_path and mode, or text such as "/dev/a:/dev/a:mrw"';

function textLike(pattern: RegExp, what: string): z.ZodString {
  return z.string().regex(pattern, { error: `must be ${what}` });
}

/** `check` requires a time given as text to be positive. */
const time = oneOf([number.gt(0), textLike(durationPattern, durationShape)], durationShape);

const deviceMapping = entry({ host_path: text, container_path: text }, { mode: text });
const deviceEntry = oneOf(
  [textLike(/^[^:]+:[^:]+(:[^:]+)?$/, deviceShape), deviceMapping],
  deviceShape,
);
const schema = section({
  slots_per_trial: count,
  priority: z.int().min(1).max(configLimits.priorityMax),
  resource_pool: pool,
  slots: count,
  max_slots: count,
  weight: number.min(0).max(configLimits.weightMax),
  is_single_node: flag,
  shm_size: memory,
  time_limit: time,
  constraints: constraints.schema,
  devices: z.array(deviceEntry),
  native_parallel: flag,
  agent_label: anyText,
});

/** Rewrites `/dev/host:/dev/container:mode` as a mapping of the three values. */
function rewriteDevice(device: Json): Json {
  if (typeof device !== "string") return device;
  const [host_path = "", container_path = "", mode] = device.split(":");
  return { host_path, container_path, ...(mode === undefined ? {} : { mode }) };
}

export const device: Part = {
  schema: deviceEntry,
  rewrite: rewriteDevice,
  defaults: { mode: "mrw" },
};
export const devices: Part = {
  schema: schema.shape.devices.unwrap(),
  each: device,
  merge: uniteBy("container_path"),
};

const check: Check = (value, path, note) => {
  if (!isMapping(value)) return;
  if (durationSeconds(valueAt(value, "time_limit")) === 0) {
    note(keyPath(path, "time_limit"), "must be greater than 0");
  }
  const weight = valueAt(value, "weight");
  if (typeof weight === "number" && weight > 0 && weight < configLimits.weightMin) {
    note(keyPath(path, "weight"), `must be 0 or at least ${configLimits.weightMin}`);
  }
};

export const resources: Part = {
  schema,
  parts: { devices, constraints },
  check,
  defaults: {
    slots_per_trial: defaults.resources.slots_per_trial,
    weight: defaults.resources.weight,
    /** The default pool, as in Determined. */
    resource_pool: "",
    devices: [],
    native_parallel: false,
  },
};
