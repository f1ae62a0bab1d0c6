import type { Condemnation } from "./state.ts";

export type RetentionCommand =
  | { readonly kind: "condemn"; readonly condemnation: Condemnation }
  | { readonly kind: "spare"; readonly reason: string }
  | { readonly kind: "start_deletion"; readonly atMs: number }
  | { readonly kind: "record_deletion"; readonly files: number; readonly bytes: number };
