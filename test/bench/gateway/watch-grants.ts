/**
 * The processor time of one Watch frame in a cluster with users, of whom each group of five sees other workspaces,
 * beside the same clients of one admin, who share each frame.
 */
import { authidOf, localUser } from "@trainyard/access";
import { Client } from "@trainyard/client";
import type { AnyEvent } from "@trainyard/contracts";
import { createPostgresLog } from "@trainyard/event-log";
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { rateResult } from "../support/bench.ts";
import { type OpenGateway, untilFolded } from "../support/gateway.ts";
import { interleave } from "../support/measure.ts";
import { appendNew } from "./experiments.ts";
import { framesPerSecond, tokensOf } from "./watch-cost.ts";

/** The first id after those of the other benches. */
const firstId = 2_000_000;
const clientsOfUser = 5;
const by = "bench";

export const watchGrantsBar = {
  id: "watch_with_grants_vs_without",
  unit: "frames/s",
  floor: 0.5,
  goal: null,
};

export async function watchWithGrants(
  context: BenchContext,
  { address }: OpenGateway,
  urls: { readonly writer: string; readonly gateway: string },
): Promise<BenchResult> {
  const groups = context.size === "tiny" ? 2 : 20;
  const commits = { tiny: 2, short: 20, full: 60 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  await using log = createPostgresLog({ connectionString: urls.writer });
  const clientOf = (token = "") => new Client({ url: address, token });
  const admins = await tokensOf(urls.gateway, 2);
  const users = await tokensOf(urls.gateway, groups, (person) => authidOf(`grouped-${person}`));
  await giveRoles(urls.gateway, groups);
  const many = Array.from({ length: groups * clientsOfUser }, (_client, index) => index);
  const without = many.map((index) => clientOf(admins[index % admins.length]));
  const grouped = many.map((index) => clientOf(users[index % groups]));
  const last = grouped.at(-1);
  await untilFolded(async () => ((await last?.call("listWorkspaces", {}))?.items.length ?? 0) > 0);
  const ids = { next: firstId };
  const measure = (clients: readonly Client[]) => () =>
    framesPerSecond(log, clients, commits, ids, () => "");
  const [ofGroups, ofAdmin] = await interleave(
    [
      { name: `${groups} groups`, round: measure(grouped) },
      { name: "one admin", round: measure(without) },
    ],
    rounds,
    context,
  );
  return rateResult(
    watchGrantsBar,
    ofGroups,
    ofAdmin,
    `frames for a second of processor time (gateway and clients), ${many.length} clients in ${groups} groups of rights beside as many of an admin`,
  );
}

/** Lets each user see the default workspace, where experiments arrive, and one of its own. */
async function giveRoles(url: string, groups: number): Promise<void> {
  await using log = createPostgresLog({ connectionString: url });
  const given = (user: string, role: string, workspace: string): AnyEvent => ({
    type: "RoleGiven",
    data: { grant: `${user} ${workspace}`, role, user, group: "", workspace, by },
  });
  const roles = Array.from({ length: groups }, (_group, index) => [
    given(`grouped-${index}`, "viewer", "default"),
    given(`grouped-${index}`, "viewer", `own-${index}`),
  ]);
  const events = [given(localUser, "cluster-admin", ""), ...roles.flat()];
  await appendNew(log, [{ stream: "access-cluster", events }]);
}
