/**
 * Placement passes with all rules enabled, compared with a plain scan, by the number of agents and by the length of the
 * queue. Also the scheduler around them: its beat, its memory, the utilisation by policy, and its placements on a
 * durable log.
 */
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { interleave, percentile } from "../support/measure.ts";
import { beats } from "./beat.ts";
import { durable } from "./durable.ts";
import { memory } from "./memory.ts";
import { OurPool } from "./ours.ts";
import { PlainScan } from "./plain-scan.ts";
import { besideSlurm } from "./slurm/beside-slurm.ts";
import { utilisations } from "./utilisation.ts";

const beside = { id: "place_10000_agents_vs_scan", unit: "placements/s", floor: 15, goal: 40 };
const flat = { id: "flatness", unit: "placements/s", floor: 0.5, goal: 0.8 };

type Places = { endOne(): void; pass(): number };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const isTiny = context.size === "tiny";
  const forMs = { tiny: 20, short: 1_500, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 7 }[context.size];
  const scale = isTiny ? 100 : 1;
  const [agents, many] = [10_000 / scale, 100_000 / scale];
  context.say(`${agents} agents, ${many} waiting runs`);
  const ours = new OurPool(agents, many);
  const plain = new PlainScan(agents, many);
  const [scanned, placed] = await interleave(
    [
      { name: "plain scan", round: async () => placementsPerSecond(plain, forMs) },
      { name: "ours", round: async () => placementsPerSecond(ours, forMs) },
    ],
    rounds,
    context,
  );
  const note =
    "by processor time; eight runs end, others arrive, and a pass follows; the scan reserves and preempts nothing";
  return [
    rateResult(beside, placed, scanned, note),
    ...decisions(context, scale),
    await flatness(context, scale, { forMs, rounds }),
    ...beats(context, scale),
    ...utilisations(context),
    ...memory(context, scale),
    await durable(context),
    ...(await besideSlurm(context)),
  ];
}

/**
 * Placements per second of processor time, which other processes affect less than elapsed time. Runs end and arrive
 * outside the measured passes.
 */
function placementsPerSecond(pool: Places, forMs: number): number {
  let placements = 0;
  let spentMs = 0;
  const startMs = performance.now();
  const before = process.cpuUsage();
  while (spentMs < forMs) {
    for (let end = 0; end < 8; end += 1) pool.endOne();
    const passMs = performance.now();
    placements += pool.pass();
    spentMs += performance.now() - passMs;
  }
  const { user, system } = process.cpuUsage(before);
  const share = spentMs / (performance.now() - startMs);
  return placements / (((user + system) / 1e6) * share);
}

function decisions({ size, say }: BenchContext, scale: number): readonly BenchResult[] {
  const passes = { tiny: 20, short: 1_000, full: 10_000 }[size];
  return [100, 1_000, 10_000].flatMap((agents) => {
    say(`passes after one end, ${agents} agents`);
    const pool = new OurPool(agents / scale, 10_000 / scale);
    const latencies = Array.from({ length: passes }, () => {
      pool.endOne();
      const start = performance.now();
      pool.pass();
      return performance.now() - start;
    });
    return [0.5, 0.99].map((share) => {
      const id = `decision_p${share * 100}_${agents}`;
      const note = "a pass after a run has ended, with what the fold does with its outcome";
      const bar = { id, unit: "ms", floor: null, goal: null };
      return costResult(bar, percentile(latencies, share), null, note);
    });
  });
}

async function flatness(
  context: BenchContext,
  scale: number,
  { forMs, rounds }: { readonly forMs: number; readonly rounds: number },
): Promise<BenchResult> {
  const long = new OurPool(1_000 / scale, 100_000 / scale);
  const short = new OurPool(1_000 / scale, 1_000 / scale);
  const [many, few] = await interleave(
    [
      { name: "100,000 waiting", round: async () => placementsPerSecond(long, forMs) },
      { name: "1,000 waiting", round: async () => placementsPerSecond(short, forMs) },
    ],
    rounds,
    context,
  );
  return rateResult(
    flat,
    many,
    few,
    "by processor time; 1,000 agents; 100,000 waiting runs beside 1,000",
  );
}
