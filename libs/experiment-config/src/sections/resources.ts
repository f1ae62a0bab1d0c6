/** Which slots a trial asks for, and what of it nothing acts on. */
import { isName } from "@trainyard/kernel";
import { z } from "zod";
import { defaults } from "../defaults.ts";
import type { Json } from "../json.ts";
import { configLimits } from "../limits.ts";
import { uniteBy } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import { anyText, count, entry, flag, number, oneOf, section, text } from "../parts/values.ts";

/** "" means the default pool, as in Determined. */
const pool = z.string().refine((name) => name === "" || isName(name), {
  error: "must be a pool's name: up to 63 letters, digits, dots, dashes and underscores",
});

const memorySize = 'a memory size: a number of bytes, or text such as "4G" or "1.5 gb"';
const deviceShape =
  'a mapping of host_path, container_path and mode, or text such as "/dev/a:/dev/a:mrw"';

function textLike(pattern: RegExp, what: string): z.ZodString {
  return z.string().regex(pattern, { error: `must be ${what}` });
}

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
  weight: number.min(0),
  is_single_node: flag,
  shm_size: oneOf(
    [z.int().min(0), textLike(/^(\d*\.)?\d+ ?([kmgtp](i?b)?|b)?$/i, memorySize)],
    memorySize,
  ),
  devices: z.array(deviceEntry),
  native_parallel: flag,
  agent_label: anyText,
});

/** `/dev/host:/dev/container:mode` as the mapping of the three. */
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

export const resources: Part = {
  schema,
  parts: { devices },
  defaults: {
    slots_per_trial: defaults.resources.slots_per_trial,
    weight: 1,
    /** The default pool, as in Determined. */
    resource_pool: "",
    devices: [],
    native_parallel: false,
  },
};
