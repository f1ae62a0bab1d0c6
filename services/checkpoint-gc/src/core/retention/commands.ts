import type { Condemnation } from "./state.ts";

export type RetentionCommand =
  | { readonly kind: "condemn"; readonly condemnation: Condemnation }
  | { readonly kind: "spare"; readonly reason: string }
  | { readonly kind: "start_deletion"; readonly atMs: number }
  | { readonly kind: "record_deletion"; readonly files: number; readonly bytes: number }
  | {
      readonly kind: "delete_files";
      readonly globs: readonly string[];
      readonly by: string;
      readonly reason: string;
    }
  | { readonly kind: "record_files"; readonly files: number; readonly bytes: number };
