import type { Damage, Declared, Pin } from "./state.ts";

export type CheckpointCommand =
  | { readonly kind: "declare"; readonly declared: Declared }
  | { readonly kind: "complete"; readonly manifest: ManifestSummary }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "abandon"; readonly reason: string }
  | { readonly kind: "pin"; readonly pin: Pin }
  /** The agent of an ended run has sent more files of the checkpoint. */
  | { readonly kind: "note_progress" }
  /** `holder` as in the event; empty for the person in `by`. */
  | { readonly kind: "unpin"; readonly pin: Omit<Pin, "reason"> }
  /** The damaged files; null when every file matches the manifest. */
  | { readonly kind: "note_damage"; readonly damage: Damage | null; readonly by: string };

export type ManifestSummary = {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
};
