/** The resources of a task. Those that an experiment has too keep their schemas, rules and reader. */
import { countAt, flagAt, isMapping, type JsonObject, keyPath, without } from "../json.ts";
import type { Check } from "../parts/part.ts";
import type { SectionModule } from "../sections/module.ts";
import { defaultPool, resources } from "../sections/resources.ts";

/** The slots of a task without `slots`, as in Determined. */
const SLOTS = 1;

/** A task that can never get its slots would wait forever; 0 slots mean no limit. */
const checkMost: Check = (section, path, note) => {
  if (!isMapping(section)) return;
  const most = countAt(section, "max_slots", 0);
  const needed = countAt(section, "slots", SLOTS);
  if (most === 0 || most >= needed) return;
  note(keyPath(path, "max_slots"), `must be at least slots, ${needed}, not ${most}`);
};

export const taskResources = {
  description: "What the task needs, and where it may run.",
  keys: (values) => {
    const { priority, resource_pool, max_slots, weight, time_limit, shm_size, ...shared } =
      resources.keys(values);
    return {
      slots: values.count.describe(
        `How many slots (GPUs, or CPU slots) of one agent the task has. Default ${SLOTS}.`,
      ),
      priority,
      resource_pool: resource_pool.describe(
        `The pool that runs the task. Default: ${defaultPool}.`,
      ),
      max_slots: max_slots.describe("The most slots that the task may hold, at least slots."),
      weight: weight.describe("The task's part of the slots in a pool with fair_share. Default 1."),
      preemptible: values.flag.describe(
        "Others may take the task's slots; it is then queued again. Default false.",
      ),
      time_limit: time_limit.describe("A run is stopped gracefully after this time, such as 2h."),
      shm_size,
      is_single_node: shared.is_single_node,
      native_parallel: shared.native_parallel,
      agent_label: shared.agent_label,
    };
  },
  parts: resources.parts,
  asWritten: {
    shm_size: resources.asWritten.shm_size,
    devices: resources.asWritten.devices,
    is_single_node: "has no effect: a task always runs on one agent",
    native_parallel: "has no effect: slots alone says how many slots a task has",
    agent_label: "has no effect: resource_pool and resources.constraints say where tasks run",
  },
  check: (section, path, note) => {
    resources.check(section, path, note);
    checkMost(section, path, note);
  },
  defaults: { slots: SLOTS, weight: 1, resource_pool: "" },
  read: (section: JsonObject) => {
    const {
      slots_per_trial: _,
      is_single_node: __,
      ...shared
    } = resources.read(without(section, ["slots", "preemptible", "slots_per_trial"]));
    return {
      slots: countAt(section, "slots", SLOTS),
      preemptible: flagAt(section, "preemptible", false),
      ...shared,
    };
  },
} satisfies SectionModule;
