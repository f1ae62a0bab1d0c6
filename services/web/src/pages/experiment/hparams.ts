/** Hyperparameters as pairs of a path and a value: { optimizer: { lr: 0.1 } } has optimizer.lr. */
import { number } from "../../components/format.ts";

export type HparamValue = string | number | boolean | null | readonly unknown[];

export function flattened(
  hparams: Readonly<Record<string, unknown>>,
  prefix = "",
): readonly (readonly [path: string, value: HparamValue])[] {
  return Object.entries(hparams).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return flattened(value as Readonly<Record<string, unknown>>, `${path}.`);
    }
    return [[path, value as HparamValue] as const];
  });
}

export function shownHparam(value: HparamValue | undefined): string {
  if (typeof value === "number") return number(value);
  if (value === undefined || typeof value === "string") return value ?? "";
  return JSON.stringify(value);
}
