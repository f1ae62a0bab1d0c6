/**
 * The verbs that an experiment's page offers in each state: pure. The server decides; the page only leaves out verbs
 * that it would refuse.
 */
export type Plain = "activate" | "pause" | "archive" | "unarchive";
export type Confirmed = "cancel" | "kill" | "delete";

export type OfferedVerb =
  | { readonly kind: "now"; readonly verb: Plain; readonly title: string }
  | { readonly kind: "dialog"; readonly verb: "fork" | "continue"; readonly title: string }
  | { readonly kind: "confirmed"; readonly verb: Confirmed; readonly title: string };

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

const now = (verb: Plain, title: string): OfferedVerb => ({ kind: "now", verb, title });
const asked = (verb: Confirmed): OfferedVerb => ({
  kind: "confirmed",
  verb,
  title: confirmations[verb].title,
});
const fork: OfferedVerb = { kind: "dialog", verb: "fork", title: "Fork" };
const continued: OfferedVerb = { kind: "dialog", verb: "continue", title: "Continue" };

type Shown = { readonly state: string; readonly archived: boolean };

export function verbsOf({ state, archived }: Shown): readonly OfferedVerb[] {
  switch (state) {
    case "ACTIVE":
      return [now("pause", "Pause"), fork, asked("cancel"), asked("kill")];
    case "PAUSED":
      return [now("activate", "Activate"), fork, asked("cancel"), asked("kill")];
    case "STOPPING_CANCELED":
      return [fork, asked("kill")];
    case "STOPPING_KILLED":
      return [fork];
    default:
      return archived
        ? [fork, now("unarchive", "Unarchive"), asked("delete")]
        : [fork, continued, now("archive", "Archive"), asked("delete")];
  }
}
