/** Troubles for a training while it uploads and deletes checkpoints: processes die, and the store fails. */
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import type { FailureRule } from "@trainyard/testing/s3";
import type { StoredTraining } from "./training.ts";

export type Trouble = {
  readonly name: string;
  readonly strike: (training: StoredTraining) => Promise<void>;
};

/** A trouble strikes during an upload or a deletion, at a different point each time. */
const moments = [
  ["PutObject", "UploadPart"],
  ["CreateMultipartUpload", "ListMultipartUploads", "ListParts", "ListObjectsV2"],
  ["CompleteMultipartUpload", "HeadObject"],
  ["DeleteObjects"],
] as const;
const withinMs = 400;

const failing = (name: string, rule: Omit<FailureRule, "operation">): Trouble => ({
  name: `the store ${name}`,
  async strike({ server }) {
    for (const operation of ["PutObject", "UploadPart", "CompleteMultipartUpload"]) {
      server.failures.add({ ...rule, operation });
    }
    for (const operation of ["DeleteObjects", "HeadObject", "ListObjectsV2", "GetObject"]) {
      server.failures.add({ ...rule, operation, times: Math.ceil((rule.times ?? 1) / 2) });
    }
  },
});

const away = (name: string, forMs: number, expires: boolean): Trouble => ({
  name: `the store is away ${name}`,
  async strike(training) {
    await training.server.away();
    await delay(forMs);
    if (expires) training.expirePlans();
    await training.server.listen();
  },
});

const killed = (part: string): Trouble => ({
  name: `kill -9 ${part}`,
  async strike({ world }) {
    const pid = await world.kill(part);
    await world.untilUp(part, pid);
  },
});

const killedTraining: Trouble = {
  name: "kill -9 of the training processes",
  async strike(training) {
    for (const trial of await training.trials()) {
      const pid = await training.pidOf(trial);
      try {
        if (pid > 0) process.kill(pid, "SIGKILL");
      } catch {
        // The process has ended by itself, or the next one has not printed its pid yet.
      }
    }
  },
};

const status = (code: number, name: string): FailureRule["failure"] => ({
  kind: "status",
  status: code,
  code: name,
});

/** The troubles of the store, which need no separate processes. */
export const troublesOfTheStore: readonly Trouble[] = [
  failing("answers 500", { failure: status(500, "InternalError"), times: 12 }),
  failing("throttles", { failure: status(503, "SlowDown"), times: 12 }),
  failing("resets connections", { failure: { kind: "reset" }, times: 8 }),
  failing("does what it is asked and loses the answer", {
    failure: { kind: "lost_answer" },
    times: 2,
  }),
  failing("is slow", { failure: { kind: "slow", ms: 3_000 }, times: 6 }),
  away("for a moment", 4_000, false),
  away("for longer than a plan's life", 12_000, true),
];

export const allTroubles: readonly Trouble[] = [
  killedTraining,
  ...["agent-1", "registry", "checkpoint-gc", "gateway", "postgres"].map(killed),
  ...troublesOfTheStore,
];

export const shortTroubles: readonly Trouble[] = [
  killedTraining,
  failing("answers 500, once", { failure: status(500, "InternalError"), times: 2 }),
  failing("resets connections", { failure: { kind: "reset" }, times: 2 }),
  away("for longer than a plan's life", 3_000, true),
];

/**
 * Applies each trouble once, in an order drawn from the seed, while the store is busy, and waits until the training has
 * recovered.
 */
export async function strikeAll(
  training: StoredTraining,
  troubles: readonly Trouble[],
  {
    seed,
    round,
    log,
  }: { readonly seed: number; readonly round: number; readonly log: (line: string) => void },
): Promise<void> {
  const left = [...troubles];
  for (let turn = 0; left.length > 0; turn += 1) {
    const stream = `checkpoints/${round}`;
    const [trouble] = left.splice(drawInteger(seed, stream, turn, left.length), 1);
    if (trouble === undefined) return;
    const moment = moments[drawInteger(seed, `${stream}/moment`, turn, moments.length)] ?? [];
    await training.untilAsked(...moment);
    await delay(drawInteger(seed, `${stream}/delay`, turn, withinMs));
    log(`${trouble.name}, after ${moment.join(" or ")}`);
    await trouble.strike(training);
    await training.untilMoreCheckpoints().catch(async (error: unknown) => {
      throw new Error(
        `the training did not recover from ${trouble.name}:\n${await training.told()}`,
        { cause: error },
      );
    });
  }
}
