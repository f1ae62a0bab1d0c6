/** The keys of a task's document itself; its sections have files of their own. */
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import { countAt, flagAt, type JsonObject, textAt, textsAt, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import type { Check, Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";
import { document, readEntrypoint } from "../sections/document.ts";
import type { SectionModule } from "../sections/module.ts";

/** In seconds, from the notice and SIGTERM to the kill. A task has no checkpoint to write, unlike a trial. */
const PREEMPTION_TIMEOUT = 300;
/** A command that failed is not run again unless its owner asks for it: it may have done half of its work. */
const RESTARTS = 0;
/** In seconds, from the start of a notebook or a TensorBoard until its server answers. */
const READY_TIMEOUT = 300;

const idleTypes = ["kernels_or_terminals", "kernel_connections", "activity"] as const;
export type NotebookIdleType = (typeof idleTypes)[number];

/** Flags that the platform sets itself: a TensorBoard with another folder or address could not be opened. */
const ownFlag = /^--?(logdir|logdir_spec|host|port|bind_all|path_prefix)(=|$)/;

const checkTensorboardArgs: Check = (args, path, note) => {
  const own = (Array.isArray(args) ? args : []).find(
    (word) => typeof word === "string" && ownFlag.test(word),
  );
  if (own !== undefined) note(path, `must not have ${own}: the platform sets it`);
};

/** A time of at most `mostSeconds`, which `most` says in words. */
function time(
  { count, oneOf, z }: Values,
  about: string,
  { least, mostSeconds, most }: { least: number; mostSeconds: number; most: string },
): Part {
  const text = z.string().regex(durationPattern, { error: `must be ${durationShape}` });
  return {
    schema: oneOf([count, text], durationShape).describe(about),
    check: (value, path, note) => {
      const seconds = durationSeconds(value);
      if (seconds === null) return;
      if (seconds < least) note(path, `must be at least ${least} s`);
      if (seconds > mostSeconds) note(path, `must be at most ${most}`);
    },
  };
}

export const taskDocument = {
  description: "A command, a shell, a notebook or a TensorBoard on the cluster.",
  keys: (values) => {
    const shared = document.keys(values);
    const { anyText, flag, oneOf, text, z } = values;
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
      notebook_idle_type: z
        .enum(idleTypes)
        .describe(
          "When a notebook counts as used: while a kernel or terminal exists, while a kernel has a connection, or by activity. Default activity.",
        ),
      keep_work: flag.describe(
        "Whether the folder of a command is saved, so that it can be paused and resumed. Default false; those of notebooks and shells always are.",
      ),
    };
  },
  parts: (values) => {
    const { preemption_timeout } = document.parts(values);
    const schema = preemption_timeout.schema.describe(
      "The time from SIGTERM to the kill when a run makes room for others, such as 5m.",
    );
    return {
      preemption_timeout: { ...preemption_timeout, schema },
      idle_timeout: time(
        values,
        "The time without use after which the task ends, such as 30m; 0 for never. Default: that of the pool.",
        { least: 0, mostSeconds: configLimits.idleTimeoutMaxSeconds, most: "30 days" },
      ),
      ready_timeout: time(
        values,
        "The time in which the server of a notebook or a TensorBoard must answer. Default 5m.",
        { least: 1, mostSeconds: configLimits.readyTimeoutMaxSeconds, most: "24 hours" },
      ),
      tensorboard_args: {
        schema: values.texts.describe(
          "Further arguments of TensorBoard, such as --window_title=a.",
        ),
        check: checkTensorboardArgs,
      },
    };
  },
  asWritten: {},
  defaults: {
    name: "",
    description: "",
    workspace: "",
    max_restarts: RESTARTS,
    debug: false,
    keep_work: false,
  },
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
    /** Whether the folder of a command is saved; `keepsWork` decides for all kinds. */
    keep_work: flagAt(recorded, "keep_work", false),
    /** Seconds without use after which the task ends; 0 for never, null for the default of the pool. */
    idle_timeout: durationSeconds(valueAt(recorded, "idle_timeout")),
    notebook_idle_type: idleTypeAt(recorded),
    tensorboard_args: textsAt(recorded, "tensorboard_args"),
    /** Seconds until the server of a notebook or a TensorBoard must answer. */
    ready_timeout: durationSeconds(valueAt(recorded, "ready_timeout")) ?? READY_TIMEOUT,
  }),
} satisfies SectionModule;

function idleTypeAt(recorded: JsonObject): NotebookIdleType {
  const written = textAt(recorded, "notebook_idle_type");
  return idleTypes.find((one) => one === written) ?? "activity";
}
