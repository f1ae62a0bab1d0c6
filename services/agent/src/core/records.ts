/**
 * The length limit of an exit's message: with each character escaped its record fits the room that is reserved for it.
 */
export const exitMessageCharsMax = 600;

/** Why a run's processes were signalled. */
export type KillRecord = { readonly why: "wanted" | "shutdown"; readonly atMs: number };

/** That a run was asked to stop by itself, through the SDK, and when. */
export type StopRecord = { readonly why: "shutdown"; readonly atMs: number };

/** The agent's sentence about the run's slots; empty once the run is over. */
export type NoticeRecord = { readonly text: string };

/**
 * How a run ended. exited: its supervisor saw it, or it could not be started for a reason of its own. lost: nobody saw
 * it. not_launched: the platform could not. never_started: it was killed before it began.
 */
export type ExitRecord = {
  readonly kind: "exited" | "lost" | "not_launched" | "never_started";
  readonly code: number | null;
  readonly signal: string | null;
  readonly message: string;
  readonly atMs: number;
  /** With not_launched: this host lacks what the configuration names, and other runs are not affected. */
  readonly lacking?: boolean;
};
