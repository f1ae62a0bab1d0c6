/** The resources of a trial: slots and placement. */
import { isName } from "@trainyard/kernel";
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import {
  countAt,
  flagAt,
  isMapping,
  type Json,
  type JsonObject,
  keyPath,
  notNegativeAt,
  numberAt,
  textAt,
  valueAt,
  without,
  withRest,
} from "../json.ts";
import { configLimits } from "../limits.ts";
import { uniteBy } from "../parts/lists.ts";
import type { Check, Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";
import { constraints, memory } from "./constraints.ts";
import { IN_CONTAINERS, type SectionModule, sectionPart } from "./module.ts";

/** The pool of resources that name none. Determined leaves it to the cluster. */
export const defaultPool = "default";
const SLOTS = 1;
const WEIGHT = 1;

const deviceShape =
  'a mapping of host_path, container_path and mode, or text such as "/dev/a:/dev/a:mrw"';

/** Rewrites `/dev/host:/dev/container:mode` as a mapping of the three values. */
function rewriteDevice(device: Json): Json {
  if (typeof device !== "string") return device;
  const [host_path = "", container_path = "", mode] = device.split(":");
  return { host_path, container_path, ...(mode === undefined ? {} : { mode }) };
}

export const device = ({ entry, oneOf, text, z }: Values): Part => ({
  schema: oneOf(
    [
      z.string().regex(/^[^:]+:[^:]+(:[^:]+)?$/, { error: `must be ${deviceShape}` }),
      entry({ host_path: text, container_path: text }, { mode: text }),
    ],
    deviceShape,
  ),
  rewrite: rewriteDevice,
  defaults: { mode: "mrw" },
});

export function devices(values: Values): Part {
  const each = device(values);
  const schema = values.z.array(each.schema).describe("Devices of the host that a container sees.");
  return { schema, each, merge: uniteBy("container_path") };
}

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

/** A trial that can never get its slots would wait forever; 0 slots mean no limit. */
export const checkSlots: Check = (resources, path, note) => {
  if (!isMapping(resources)) return;
  const most = countAt(resources, "max_slots", 0);
  const needed = countAt(resources, "slots_per_trial", SLOTS);
  if (most === 0 || most >= needed) return;
  note(keyPath(path, "max_slots"), `must be at least slots_per_trial, ${needed}, not ${most}`);
};

export const resources = {
  description: "What each trial needs, and where it may run.",
  keys: (values) => {
    const { anyText, count, flag, number, oneOf, z } = values;
    /** `check` requires a time given as text to be positive. */
    const durationText = z.string().regex(durationPattern, { error: `must be ${durationShape}` });
    return {
      slots_per_trial: count.describe(
        `How many slots (GPUs, or CPU slots) each trial trains on. Default ${SLOTS}.`,
      ),
      priority: z
        .int()
        .min(1)
        .max(configLimits.priorityMax)
        .describe(`1 to ${configLimits.priorityMax}; lower is placed first.`),
      /** "" means the default pool, as in Determined. */
      resource_pool: z
        .string()
        .refine((name) => name === "" || isName(name), {
          error: "must be a pool's name: up to 63 letters, digits, dots, dashes and underscores",
        })
        .describe(`The pool that runs the trials. Default: ${defaultPool}.`),
      max_slots: count.describe("The most slots that all trials of the experiment hold together."),
      weight: number
        .min(0)
        .max(configLimits.weightMax)
        .describe(
          `The experiment's part of the slots in a pool with fair_share. Default ${WEIGHT}.`,
        ),
      is_single_node: flag.describe("All slots of a trial are on one agent. Default false."),
      time_limit: oneOf([number.gt(0), durationText], durationShape).describe(
        "A run is stopped gracefully after this time, such as 2h, and the trial continues.",
      ),
      shm_size: memory(values).describe("Shared memory of a container, such as 4 GiB."),
      slots: count,
      native_parallel: flag,
      agent_label: anyText,
    };
  },
  parts: (values) => ({
    devices: devices(values),
    constraints: sectionPart(constraints, values),
  }),
  asWritten: {
    slots: "has no effect on an experiment: slots_per_trial says how many slots a trial has",
    shm_size: IN_CONTAINERS,
    devices: IN_CONTAINERS,
    native_parallel: "has no effect: slots_per_trial alone says how many slots a trial trains on",
    agent_label: "has no effect: resource_pool and resources.constraints say where trials run",
  },
  check,
  defaults: {
    slots_per_trial: SLOTS,
    weight: WEIGHT,
    resource_pool: "",
    devices: [],
    native_parallel: false,
  },
  read: (section: JsonObject) => {
    const written = valueAt(section, "constraints");
    const read = {
      slots_per_trial: countAt(section, "slots_per_trial", SLOTS),
      /** Null for the pool's default. */
      priority: numberAt(section, "priority", null),
      resource_pool: textAt(section, "resource_pool") || defaultPool,
      weight: notNegativeAt(section, "weight", WEIGHT),
      /** Null for no limit. */
      max_slots: countAt(section, "max_slots", 0) || null,
      /** In seconds; null for no limit. */
      time_limit: durationSeconds(valueAt(section, "time_limit")) || null,
      is_single_node: flagAt(section, "is_single_node", false),
      /** Absent if runs may be placed anywhere in the pool. */
      ...(isMapping(written) ? { constraints: constraints.read(written) } : {}),
    };
    return withRest(read, without(section, ["constraints"]));
  },
} satisfies SectionModule;
