/**
 * Fair share divides the slots among jobs by weight, by progressive filling: a job that needs less than its share
 * leaves the rest to the others. Shares are whole slots. The fractions go to the jobs with the largest remainders; of
 * equal ones, to jobs that already hold the slot, so that no slot moves back and forth.
 *
 * Jobs below their share go first, the job with the fewest slots for its weight before the others. Jobs at their share
 * may use the slots that remain. With preemption, a job below its share stops runs of jobs above theirs, but drops no
 * job below its share.
 */
import type { PlacedRun } from "../placed.ts";
import { placeOf } from "../queue.ts";
import { agedPriority } from "./ageing.ts";
import type { Policy, View } from "./policy.ts";

export const fairShare: Policy = {
  byJob: true,
  open(view) {
    const { settings, standing, nowMs } = view;
    const jobs = jobsOf(view);
    const shares = divide([...jobs.values()], view.agents.freeSlots + view.placed.slots);
    const shareOf = (job: string): number => shares.get(job) ?? 0;
    return {
      rankOf: (demand) => {
        const held = standing.slotsOf(demand.job);
        return [
          held < shareOf(demand.job) ? 0 : 1,
          held / (jobs.get(demand.job)?.weight ?? 1),
          agedPriority(demand, settings.ageingMs, nowMs),
          placeOf(demand),
          demand.arrival,
        ];
      },
      *victimsFor({ job, slots }, exempt) {
        if (!settings.preemption || standing.slotsOf(job) + slots > shareOf(job)) return;
        yield* runsBeyond(view, [...jobs.keys()], shareOf, exempt);
      },
      rightOf: ({ job }) => job,
      shareOf,
    };
  },
};

export type Job = {
  readonly id: string;
  readonly weight: number;
  /** The slots that the job holds and waits for, at most `maxSlots`. */
  readonly wants: number;
  readonly holds: number;
};

function jobsOf({ queue, placed }: View): ReadonlyMap<string, Job> {
  const jobs = new Map<string, Job>();
  for (const id of [...placed.jobs, ...queue.jobs]) {
    if (jobs.has(id)) continue;
    const sample = queue.sampleOf(id) ?? placed.sampleOf(id);
    const holds = placed.slotsOf(id);
    const most = Math.max(holds, sample?.maxSlots ?? Number.POSITIVE_INFINITY);
    const weight = sample !== undefined && sample.weight > 0 ? sample.weight : 1;
    jobs.set(id, { id, weight, holds, wants: Math.min(holds + queue.slotsOf(id), most) });
  }
  return jobs;
}

/** Divides whole slots among the jobs: all that exist, or all that the jobs need. */
export function divide(jobs: readonly Job[], capacity: number): ReadonlyMap<string, number> {
  const byNeed = jobs.toSorted((a, b) => a.wants / a.weight - b.wants / b.weight);
  let left = capacity;
  let weights = jobs.reduce((sum, { weight }) => sum + weight, 0);
  const ideals = byNeed.map((job) => {
    const ideal = Math.min(job.wants, (left * job.weight) / weights);
    left -= ideal;
    weights -= job.weight;
    // Rounds a sum of fractions that differs from a whole number only in its last digit.
    return { job, ideal: Math.abs(ideal - Math.round(ideal)) < 1e-9 ? Math.round(ideal) : ideal };
  });
  const shares = new Map(ideals.map(({ job, ideal }) => [job.id, Math.floor(ideal)]));
  const fractions = ideals.filter(({ ideal }) => ideal > Math.floor(ideal));
  const whole = Math.round(fractions.reduce((sum, { ideal }) => sum + (ideal % 1), 0));
  fractions.sort((a, b) => (b.ideal % 1) - (a.ideal % 1) || surplus(b) - surplus(a));
  for (const { job, ideal } of fractions.slice(0, whole)) shares.set(job.id, Math.ceil(ideal));
  return shares;
}

function surplus({ job, ideal }: { readonly job: Job; readonly ideal: number }): number {
  return job.holds > ideal ? 1 : 0;
}

/** The preemptible runs of jobs above their share, the job that is furthest above first; none drops below its share. */
function* runsBeyond(
  { placed, standing }: View,
  jobs: readonly string[],
  shareOf: (job: string) => number,
  exempt: boolean,
): Generator<PlacedRun> {
  const beyond = jobs.flatMap((job) => {
    const surplus = standing.stayingSlotsOf(job) - shareOf(job);
    return surplus > 0 ? [{ job, surplus }] : [];
  });
  for (const { job, surplus } of beyond.sort((a, b) => b.surplus - a.surplus)) {
    let left = surplus;
    for (const run of placed.runsOf(job)) {
      if (left <= 0) break;
      const { slots } = run.demand;
      if (slots > left || !standing.mayStop(run, exempt)) continue;
      left -= slots;
      yield run;
    }
  }
}
