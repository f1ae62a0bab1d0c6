/**
 * A short name for a pod template. Source: docs, "Deployments" (pod-template-hash label), "StatefulSets" (revisions).
 */
import { isDeepStrictEqual } from "node:util";
import type { PodTemplate } from "./pod-kinds.ts";

export const templateLabel = "pod-template-hash";
const letters = "bcdfghjklmnpqrstvwxz2456789";

/** FNV-1a of the template, in letters that form no words; `collisions` makes another of an equal template. */
export function templateHash(template: PodTemplate, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${canonical(template)}#${collisions}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => letters[Number(digit)]).join("");
}

/** Labels that controllers add make no difference. */
export function sameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return isDeepStrictEqual(bare(a), bare(b));
}

function bare({ metadata = {}, spec }: PodTemplate): object {
  const { [templateLabel]: _, ...labels } = metadata.labels ?? {};
  return { metadata: { annotations: metadata.annotations ?? {}, labels }, spec };
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
