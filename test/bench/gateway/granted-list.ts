/** Lists for a caller who sees 5 of 200 workspaces, beside a caller who sees all, in a cluster of 1,000 users. */
import { createHash } from "node:crypto";
import { Client } from "@trainyard/client";
import type { AnyEvent } from "@trainyard/contracts";
import { createPostgresLog } from "@trainyard/event-log";
import { newApiToken } from "@trainyard/kernel/api-token";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { appendNew } from "./experiments.ts";
import { database, type Stage } from "./filled.ts";

const workspaces = 200;
const users = 1_000;
const seenByEach = 5;
const pageSize = 50;
const by = "user:bench";

/** The first pages of the list in the orders that a page offers first. */
const questions = [
  {},
  { orderBy: "name" },
  { orderBy: "created_at" },
  { filter: "state = ERROR" },
] as const;

export const grantedBar = {
  id: "list_with_grants_vs_without",
  unit: "pages/s",
  floor: 0.7,
  goal: 0.9,
};

export async function grantedLists(context: BenchContext, stage: Stage): Promise<BenchResult> {
  const forMs = { tiny: 50, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  const tokens = await addUsers(stage);
  await spread(stage);
  const measure = (client: Client) => {
    let asked = 0;
    return () =>
      callsPerSecond(1, forMs, async () => {
        const question = questions[asked % questions.length];
        asked += 1;
        await client.call("listExperiments", { pageSize, archived: true, ...question });
      });
  };
  const { address: url } = stage;
  const [granted, all] = await interleave(
    [
      { name: "sees 5 workspaces", round: measure(new Client({ url, token: tokens.granted })) },
      { name: "sees all", round: measure(new Client({ url, token: tokens.all })) },
    ],
    rounds,
    context,
  );
  const note = `${users} users with ${seenByEach} roles each, ${workspaces} workspaces, ${stage.count} experiments; pages of ${pageSize} in ${questions.length} ways`;
  return rateResult(grantedBar, granted, all, note);
}

/** Puts the experiments into workspaces, in the rows that lists are read from. */
async function spread({ postgres }: Stage): Promise<void> {
  await withClient(postgres.url({ database }), async (client) => {
    await client.query(
      `update gateway.experiment_rows set workspace = 'team-' || (ordinal % ${workspaces})`,
    );
    await client.query("vacuum analyze gateway.experiment_rows");
  });
}

/** Gives roles to all users, and tokens to one of them and to an admin. */
async function addUsers({ postgres, client }: Stage) {
  const connectionString = postgres.url({ user: "ty_gateway", database });
  await using log = createPostgresLog({ connectionString });
  const grants: AnyEvent[] = [given("admin", "cluster-admin", "")];
  for (let user = 0; user < users; user += 1) {
    for (let seen = 0; seen < seenByEach; seen += 1) {
      const workspace = `team-${(user * 7 + seen * 37) % workspaces}`;
      grants.push(given(`u${user}`, "viewer", workspace));
    }
  }
  for (let from = 0; from < grants.length; from += 500) {
    const events = grants.slice(from, from + 500);
    await appendNew(log, [{ stream: "access-cluster", version: from, events }]);
  }
  const [granted, all] = [newToken("user:u3"), newToken("user:admin")];
  const position = await appendNew(log, [granted.write, all.write]);
  await client.call("listTokens", { minPosition: String(position) });
  return { granted: granted.text, all: all.text };
}

function given(user: string, role: string, workspace: string): AnyEvent {
  const grant = `${user} ${role} ${workspace}`;
  return { type: "RoleGiven", data: { grant, role, user, group: "", workspace, by } };
}

function newToken(owner: string) {
  const { id, secret, text } = newApiToken();
  const secretDigest = createHash("sha256").update(secret).digest("hex");
  const event: AnyEvent = {
    type: "TokenIssued",
    data: { label: "", owner, secretDigest, expiresAtMs: 0, ancestors: [], limits: [] },
  };
  return { text, write: { stream: `token-${id}`, events: [event] } };
}
