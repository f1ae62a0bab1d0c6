import { count, number } from "../../components/format.ts";
import { own } from "../../data/own.ts";
import type { ShownTrial } from "./trial.ts";

const names: readonly (readonly [metric: string, word: string])[] = [
  ["batches", "batch"],
  ["epochs", "epoch"],
];

/** Formats the position of the latest validation, as "batch 1,200 · epoch 3"; empty if it has none. */
export function positionText({ latestValidation }: Pick<ShownTrial, "latestValidation">): string {
  return names
    .flatMap(([metric, word]) => {
      const value = own(latestValidation, metric);
      return value === undefined
        ? []
        : [`${word} ${Number.isInteger(value) ? count(value) : number(value)}`];
    })
    .join(" · ");
}
