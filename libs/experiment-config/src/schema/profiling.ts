/** What the SDK measures of the machines that a trial runs on. */
import { count, flag, section } from "./values.ts";

export const profiling = section({
  enabled: flag,
  /** The steps of the training between which it is measured. */
  begin_on_batch: count,
  end_after_batch: count,
  sync_timings: flag,
});
