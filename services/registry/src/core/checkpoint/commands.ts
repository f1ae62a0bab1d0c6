import type { Declared } from "./state.ts";

export type CheckpointCommand =
  | { readonly kind: "declare"; readonly declared: Declared }
  | { readonly kind: "complete"; readonly manifest: ManifestSummary }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "abandon"; readonly reason: string }
  | { readonly kind: "pin"; readonly pin: Pin }
  | { readonly kind: "unpin"; readonly pin: Omit<Pin, "reason"> };

export type Pin = {
  readonly by: string;
  /** "model-version:NAME/3"; empty for the person in `by`. */
  readonly holder: string;
  readonly reason: string;
};

export type ManifestSummary = {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
};
