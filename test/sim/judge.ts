import { decidedOtherwise, proposalsOf, violationsOf } from "./invariants.ts";
import { deadlineViolations } from "./rules/deadlines.ts";
import { runWorld, type World } from "./world.ts";

export type Judgement = { readonly violations: readonly string[]; readonly world: World };

/** Checks that the bus has the same events as the log in the end. */
export function relayViolations({ log, relayed }: World): readonly string[] {
  const last = log.store.events.at(-1)?.id;
  return last === relayed ? [] : [`the bus ends with event ${relayed}, the log with ${last}`];
}

/** Runs the world of a seed, and the same submissions without troubles, and returns the violations. */
export async function judge(seed: number, scheduler = false): Promise<Judgement> {
  const world = await runWorld({ seed, scheduler });
  const violations = [
    ...(await violationsOf(world.log)),
    ...relayViolations(world),
    ...deadlineViolations(world.log.store.events, world.moments, false),
  ];
  if (!world.ended) {
    violations.unshift(`still running after ${world.virtualMs / 3_600_000} hours of virtual time`);
  }
  const calm = await runWorld({ seed, scheduler, calm: true, submissions: world.submissions });
  if (!calm.ended) violations.unshift("still running, without any hardship");
  violations.push(...(await violationsOf(calm.log)).map((what) => `without hardship: ${what}`));
  for (const experiment of world.experiments) {
    violations.push(...decidedOtherwise(world.log, experiment));
  }
  for (const [index, experiment] of world.experiments.entries()) {
    const undisturbed = proposalsOf(calm.log, calm.experiments[index] ?? "");
    for (const [n, proposal] of proposalsOf(world.log, experiment).entries()) {
      const expected = undisturbed[n];
      // One world may have more proposals than the other, since invalid trials are replaced and stopped ones are not.
      if (expected == null || proposal === null || expected === proposal) continue;
      violations.push(`experiment ${experiment} proposed ${proposal} instead of ${expected}`);
    }
  }
  return { violations, world };
}
