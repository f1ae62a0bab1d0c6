/**
 * The length limit of an exit's message: with all its characters escaped, the record fits into the reserved disk space.
 */
export const exitMessageCharsMax = 600;

/**
 * The reason for which a run's processes were signalled, and the time. asked: a list asked to stop a run that does not
 * use the SDK, which got SIGTERM. ended: the agent ends the run of a task, for the reason in its end record.
 */
export type KillRecord = {
  readonly why: "asked" | "ended" | "wanted" | "shutdown";
  readonly atMs: number;
  /** With ended: the time from SIGTERM to SIGKILL. */
  readonly graceMs?: number;
};

/** The reason why the agent ended the run of a task, as a sentence. */
export type TaskEndRecord = { readonly reason: "error" | "idle"; readonly message: string };

/** Records when a run was asked to stop by itself, through the SDK, and why. */
export type StopRecord = { readonly why: "shutdown"; readonly atMs: number };

/** A sentence of the agent about the run's slots; empty once the run has ended. */
export type NoticeRecord = {
  readonly text: string;
  /** Lines for the run's log; only added to. */
  readonly said: readonly string[];
};

/**
 * How a run ended. exited: its supervisor observed the end, or its own configuration prevented its start. lost: no
 * process observed the end. not_launched: the platform could not start it. never_started: it was killed before its
 * start.
 */
export type ExitRecord = {
  readonly kind: "exited" | "lost" | "not_launched" | "never_started";
  readonly code: number | null;
  readonly signal: string | null;
  readonly message: string;
  readonly atMs: number;
  /** Set with not_launched if this host lacks something that the configuration names, which affects no other run. */
  readonly lacking?: boolean;
  /** Set with lacking if waiting does not bring it to this host. */
  readonly lasting?: boolean;
};
