/**
 * The verbs of an experiment's page: pure. All are offered in every state; one that the server would refuse has the
 * server's reason.
 */
import type { UnaryName } from "@trainyard/contracts";

export type Plain = "activate" | "pause" | "archive" | "unarchive";
export type Confirmed = "cancel" | "kill" | "delete";
/** The verbs that edit a text of the header in place. */
export type Edited = "name" | "description" | "labels";
export type DialogVerb = "fork" | "continue" | "move";
export type OwnVerb = "copy-link" | "download-code";

type Offered<Kind extends string, Verb extends string> = {
  readonly kind: Kind;
  readonly verb: Verb;
  readonly title: string;
  /** The reason why the verb cannot run; absent if it can. */
  readonly why?: string;
};

export type OfferedVerb =
  | Offered<"now", Plain>
  | Offered<"dialog", DialogVerb>
  | Offered<"confirmed", Confirmed>
  | Offered<"edit", Edited>
  | Offered<"own", OwnVerb>;

/** The questions for verbs that need a confirmation. */
export const confirmations: Readonly<
  Record<Confirmed, { readonly title: string; readonly means: string }>
> = {
  cancel: {
    title: "Cancel",
    means: "It ends; its trials store a checkpoint first.",
  },
  kill: {
    title: "Kill",
    means: "It ends, and the processes of its trials at once, without a checkpoint.",
  },
  delete: {
    title: "Delete",
    means:
      "Pages and lists leave it out at once. Its checkpoints, metrics, logs and code are deleted after the grace period; until then its page brings it back.",
  },
};

/** The call of each verb, whose permission the caller needs; a fork is a new experiment, in any place. */
export const callOf: Readonly<Record<Exclude<OfferedVerb["verb"], OwnVerb>, UnaryName>> = {
  activate: "activateExperiment",
  pause: "pauseExperiment",
  archive: "archiveExperiment",
  unarchive: "unarchiveExperiment",
  cancel: "cancelExperiment",
  kill: "killExperiment",
  delete: "deleteExperiment",
  name: "updateExperiment",
  description: "updateExperiment",
  labels: "updateExperiment",
  fork: "createExperiment",
  continue: "continueExperiment",
  move: "moveExperiments",
};

const hasEnded = "The experiment has ended.";
const isStopping = "The experiment is being stopped for good.";
const hasNotEnded = "The experiment has not ended: cancel it first.";

type Shown = {
  readonly state: string;
  readonly archived: boolean;
  /** The server's reason why the experiment cannot be continued; empty if it can. */
  readonly continueRefusal: string;
};

const because = (why: string): { readonly why?: string } => (why === "" ? {} : { why });

export function verbsOf({ state, archived, continueRefusal }: Shown): readonly OfferedVerb[] {
  const isStopped = state.startsWith("STOPPING_");
  const isRunning = state === "ACTIVE" || state === "PAUSED";
  const isEnded = !isStopped && !isRunning;
  const unlessOver = isEnded ? hasEnded : isStopped ? isStopping : "";
  const killed = state === "STOPPING_KILLED" ? isStopping : "";
  const onceEnded = because(isEnded ? "" : hasNotEnded);
  const confirmed = (verb: Confirmed, why: { readonly why?: string }): OfferedVerb => ({
    kind: "confirmed",
    verb,
    title: confirmations[verb].title,
    ...why,
  });
  return [
    state === "PAUSED"
      ? { kind: "now", verb: "activate", title: "Activate" }
      : { kind: "now", verb: "pause", title: "Pause", ...because(unlessOver) },
    { kind: "dialog", verb: "fork", title: "Fork" },
    { kind: "dialog", verb: "continue", title: "Continue", ...because(continueRefusal) },
    archived
      ? { kind: "now", verb: "unarchive", title: "Unarchive" }
      : { kind: "now", verb: "archive", title: "Archive", ...onceEnded },
    { kind: "edit", verb: "name", title: "Rename" },
    { kind: "edit", verb: "description", title: "Describe" },
    { kind: "edit", verb: "labels", title: "Edit labels" },
    { kind: "dialog", verb: "move", title: "Move" },
    { kind: "own", verb: "copy-link", title: "Copy link" },
    { kind: "own", verb: "download-code", title: "Download code" },
    confirmed("cancel", because(unlessOver)),
    confirmed("kill", because(isEnded ? hasEnded : killed)),
    confirmed("delete", onceEnded),
  ];
}
