/**
 * The searcher dies at one of its calls to the log, before or after the call's effect, and continues: its decisions
 * must not differ.
 */
import { drawInteger } from "@trainyard/kernel";
import { type Death, recorded, replayed } from "./memory-searcher.ts";
import { methods } from "@trainyard/search/testing";
import { differenceOf } from "./sequence.ts";

const stepsMax = 120;
/** The number of kill points in one sequence, so that a method is tested with several sequences. */
const pointsOfSequence = 32;

export type Killed = { readonly points: number; readonly violations: readonly string[] };

export async function killInMemory(method: string, points: number, seed: number): Promise<Killed> {
  const experiment = String(methods.indexOf(method) + 1);
  const violations: string[] = [];
  let made = 0;
  for (let variant = 0; made < points; variant += 1) {
    const { sequence, calls } = await recorded(method, experiment, seed + variant, stepsMax);
    for (const death of deathsOf(
      calls,
      Math.min(pointsOfSequence, points - made),
      seed + variant,
    )) {
      const { decided, died } = await replayed(sequence, death);
      const where = `seed ${seed + variant}, killed ${death.moment} call ${death.call}`;
      if (!died) violations.push(`${where}: it did not die`);
      const difference = differenceOf(sequence, decided);
      if (difference !== null) violations.push(`${where}: ${difference}`);
      made += 1;
    }
  }
  return { points: made, violations };
}

/** Distinct deaths, spread over the whole sequence. */
function deathsOf(calls: number, count: number, seed: number): readonly Death[] {
  const places = calls * 2;
  const taken = Math.min(count, places);
  const first = drawInteger(seed, "kill9/first", 0, places);
  return Array.from({ length: taken }, (_, n) => {
    const place = (first + Math.floor((n * places) / taken)) % places;
    return { call: 1 + (place >> 1), moment: place % 2 === 0 ? "before" : "after" };
  });
}
