/** The keys of a task's document itself; its sections have files of their own. */
import { durationSeconds } from "../duration.ts";
import { countAt, flagAt, type JsonObject, textAt, valueAt } from "../json.ts";
import { document, readEntrypoint } from "../sections/document.ts";
import { NOT_YET, type SectionModule } from "../sections/module.ts";

/** In seconds, from the notice and SIGTERM to the kill. A task has no checkpoint to write, unlike a trial. */
const PREEMPTION_TIMEOUT = 300;
/** A command that failed is not run again unless its owner asks for it: it may have done half of its work. */
const RESTARTS = 0;

export const taskDocument = {
  description: "A command or a shell on the cluster.",
  keys: (values) => {
    const shared = document.keys(values);
    const { anyText, oneOf, text, z } = values;
    return {
      name: shared.name.describe("The name of the task, for people."),
      description: shared.description.describe("What the task is for."),
      workspace: shared.workspace.describe(
        "The workspace that the task belongs to; quotas of pools count by it.",
      ),
      entrypoint: oneOf(
        [text, z.array(text).min(1)],
        "a command: text, or a list of texts",
      ).describe("The command that runs: a text by the shell, a list directly."),
      work_dir: anyText.describe(
        "The folder in which the task starts: absolute, or below the folder of its files.",
      ),
      max_restarts: shared.max_restarts.describe(
        `How often the task is run again after its run has failed. Default ${RESTARTS}.`,
      ),
      debug: shared.debug.describe("A flag for the command. Default false."),
      idle_timeout: anyText,
      notebook_idle_type: z.enum(["kernels_or_terminals", "kernel_connections", "activity"]),
    };
  },
  parts: (values) => {
    const { preemption_timeout } = document.parts(values);
    const schema = preemption_timeout.schema.describe(
      "The time from SIGTERM to the kill when a run makes room for others, such as 5m.",
    );
    return { preemption_timeout: { ...preemption_timeout, schema } };
  },
  asWritten: { idle_timeout: NOT_YET, notebook_idle_type: NOT_YET },
  defaults: { name: "", description: "", workspace: "", max_restarts: RESTARTS, debug: false },
  read: (recorded: JsonObject) => ({
    /** Empty if the user gave none. */
    name: textAt(recorded, "name"),
    description: textAt(recorded, "description"),
    workspace: textAt(recorded, "workspace"),
    /** A text is run by the shell; a list is run directly. Empty for a shell. */
    entrypoint: readEntrypoint(recorded),
    /** Empty for the folder of the task's files. */
    work_dir: textAt(recorded, "work_dir"),
    max_restarts: countAt(recorded, "max_restarts", RESTARTS),
    /** Seconds that a stopped run has to end by itself. */
    preemption_timeout:
      durationSeconds(valueAt(recorded, "preemption_timeout")) ?? PREEMPTION_TIMEOUT,
    debug: flagAt(recorded, "debug", false),
  }),
} satisfies SectionModule;
