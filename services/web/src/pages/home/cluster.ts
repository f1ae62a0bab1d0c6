/** Summarises the cluster from its agents: pure. */
import type { Agent } from "@trainyard/contracts/api";
import type { Plain } from "@trainyard/contracts";

export type PoolSummary = {
  readonly pool: string;
  readonly slots: number;
  /** The number of slots that runs hold. */
  readonly used: number;
  readonly agents: number;
  /** Agents that are lost or get no runs, with the reason. */
  readonly troubled: readonly { readonly name: string; readonly why: string }[];
};

type Given = Pick<
  Plain<Agent>,
  "name" | "pool" | "state" | "slots" | "notPlaced" | "distrust" | "silence"
>;

/**
 * Returns the pools sorted by name. Removed agents are left out; slots of lost ones count only while a run holds them.
 */
export function poolsOf(agents: readonly Given[]): readonly PoolSummary[] {
  const present = agents.filter(({ state }) => state !== "REMOVED");
  const pools = Map.groupBy(present, ({ pool }) => pool);
  return [...pools]
    .map(([pool, members]) => {
      const slots = members.flatMap((agent) =>
        agent.slots.filter(({ run }) => agent.state === "CONNECTED" || run !== ""),
      );
      return {
        pool,
        slots: slots.length,
        used: slots.filter(({ run }) => run !== "").length,
        agents: members.length,
        troubled: members.flatMap((agent) => {
          const why = troubleOf(agent);
          return why === "" ? [] : [{ name: agent.name, why }];
        }),
      };
    })
    .toSorted((a, b) => a.pool.localeCompare(b.pool));
}

function troubleOf({ state, notPlaced = "", distrust, silence }: Given): string {
  if (state === "LOST") return "lost";
  if (silence !== undefined) return `does not report: ${silence.reason}`;
  if (notPlaced !== "" || distrust === undefined) return notPlaced;
  return `its last ${distrust.failures} runs failed (${distrust.reason})`;
}
