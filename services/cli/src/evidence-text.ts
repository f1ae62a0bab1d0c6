import { number } from "./output.ts";

/** Formats the scalar evidence as "rank=3 cutoff=0.25 …"; lists are only in the JSON output. */
export function evidenceText(evidence: unknown): string {
  if (evidence === null || typeof evidence !== "object") return "";
  return Object.entries(evidence)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .map(([name, value]) => `${name}=${typeof value === "number" ? number(value) : String(value)}`)
    .join(" ");
}
