/** The SDK's profiling of the machines that a trial runs on. */
import { isMapping, valueAt } from "../json.ts";
import type { Check, Part } from "../parts/part.ts";
import { count, flag, section } from "../parts/values.ts";

const schema = section({
  enabled: flag,
  /** The training steps at which profiling begins and ends. */
  begin_on_batch: count,
  end_after_batch: count,
  sync_timings: flag,
});

const checkProfiling: Check = (profiling, path, note) => {
  if (!isMapping(profiling)) return;
  const begin = valueAt(profiling, "begin_on_batch");
  const end = valueAt(profiling, "end_after_batch");
  if (typeof begin === "number" && typeof end === "number" && begin > end) {
    note(
      `${path === "" ? "" : `${path}.`}begin_on_batch`,
      `must not be greater than end_after_batch: ${begin} is greater than ${end}`,
    );
  }
};

export const profiling: Part = {
  schema,
  check: checkProfiling,
  defaults: { enabled: false, begin_on_batch: 0, sync_timings: true },
};
