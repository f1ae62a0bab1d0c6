/** The door for agents: a run's token opens a tunnel of that run, and of no other. */
import type { Clock } from "@trainyard/kernel";
import { openTunnel, tunnelLink } from "@trainyard/tunnel";
import type { Caller, Credentials } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import type { UpgradeRoute } from "../http/upgrades.ts";
import type { Course } from "./runs.ts";
import type { Tunnels } from "./tunnels.ts";

export type AgentDoorDeps = {
  readonly tunnels: Tunnels;
  readonly course: (allocation: string) => Promise<Course>;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
  readonly clock: Clock;
};

export function agentDoor({ tunnels, course, authenticate, clock }: AgentDoorDeps): UpgradeRoute {
  return {
    name: "run-tunnel",
    path: /^\/api\/v1\/runs\/([^/]+)\/tunnel$/,
    async serve({ request, parameters: [allocation = ""], caller, accept }) {
      const known = await caller();
      if (known.kind !== "run" || known.allocation !== allocation) {
        const detail = `only the token of run ${allocation} opens a tunnel of this run`;
        throw new Problem(403, "not_your_run", detail);
      }
      const refuseEnded = async (): Promise<void> => {
        if ((await course(allocation)).state !== "ended") return;
        throw new Problem(403, "run_ended", `run ${allocation} has ended`);
      };
      await refuseEnded();
      const { authorization } = request.headers;
      accept(tunnelLink, (link) => {
        const check = async (): Promise<void> => {
          await authenticate({ authorization, session: undefined });
          await refuseEnded();
        };
        tunnels.keep(allocation, openTunnel(link, { clock }), check);
      });
    },
  };
}
