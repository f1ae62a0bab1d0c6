import type { Declared } from "./state.ts";

export type CheckpointCommand =
  | { readonly kind: "declare"; readonly declared: Declared }
  | { readonly kind: "complete"; readonly manifest: ManifestSummary }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "abandon"; readonly reason: string };

export type ManifestSummary = {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
};
