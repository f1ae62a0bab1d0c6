/** Sign-ins with passwords a second, compared with the bare hashes that they need. */
import { argon2, createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { startTestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { createGatewayDatabase, openGateway } from "../support/gateway.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";

export const signInBar = {
  ...{ id: "signin_vs_bare_argon2", unit: "sign-ins/s" },
  ...{ floor: 0.7, goal: null },
};

const database = "bench";
/** The hashes that a gateway computes at once, and twice as many people, so that one always waits. */
const [hashesAtOnce, people] = [2, 4];
const derive = promisify(argon2);

export async function signIns(context: BenchContext): Promise<BenchResult> {
  const forMs = { tiny: 100, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 7 }[context.size];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  await createGatewayDatabase(postgres, database);
  const { client, address } = await openGateway(stack, postgres, database);
  const accounts = Array.from({ length: people }, (_, number) => ({
    name: `person${number}`,
    password: createHash("sha512").update(String(number)).digest("hex"),
  }));
  for (const account of accounts) await client.call("createUser", account);
  const signIn = async (caller: number): Promise<void> => {
    const answer = await fetch(`${address}/api/v1/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(accounts[caller]),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
  const message = accounts[0]?.password ?? "";
  const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
  const hash = async (): Promise<void> => {
    await derive("argon2id", { ...cost, message, nonce: randomBytes(16) });
  };
  const [ours, bare] = await interleave(
    [
      { name: "sign-ins", round: () => callsPerSecond(people, forMs, signIn) },
      { name: "bare argon2id", round: () => callsPerSecond(hashesAtOnce, forMs, hash) },
    ],
    rounds,
    context,
  );
  const note = `${people} people at once; baseline: ${hashesAtOnce} hashes at once with the same parameters`;
  return rateResult(signInBar, ours, bare, note);
}
