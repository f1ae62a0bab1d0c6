/** The SDK's profiling of the machines that a trial runs on. The section is recorded as it was written. */
import { isMapping, type JsonObject, keyPath, valueAt, without, withRest } from "../json.ts";
import type { Check } from "../parts/part.ts";
import type { SectionModule } from "./module.ts";

const check: Check = (profiling, path, note) => {
  if (!isMapping(profiling)) return;
  const begin = valueAt(profiling, "begin_on_batch");
  const end = valueAt(profiling, "end_after_batch");
  if (typeof begin === "number" && typeof end === "number" && begin > end) {
    note(
      keyPath(path, "begin_on_batch"),
      `must not be greater than end_after_batch: ${begin} is greater than ${end}`,
    );
  }
};

export const profiling = {
  description: "Whether the use of processors, memory and GPUs is recorded.",
  keys: ({ count, flag }) => ({
    enabled: flag.describe("Record the use of processors, memory and GPUs. Default false."),
    begin_on_batch: count.describe("The first batch that is recorded. Default 0."),
    end_after_batch: count.describe("The last batch that is recorded. Default: the end."),
    sync_timings: flag,
  }),
  asWritten: {
    sync_timings: "has no effect: the profiler times nothing inside of the training loop",
  },
  check,
  defaults: { enabled: false, begin_on_batch: 0, sync_timings: true },
  read: (section: JsonObject): { readonly enabled?: boolean } => {
    const enabled = valueAt(section, "enabled");
    const read = typeof enabled === "boolean" ? { enabled } : {};
    return withRest(read, without(section, ["enabled"]));
  },
} satisfies SectionModule;
