/** Cases of Determined's fitting, which chooses agents for a task. */
import type { JsonObject } from "@trainyard/experiment-config";
import {
  dedicatedFit,
  type DeterminedAgent,
  findFits,
  fitScore,
  hasRoom,
  type Part,
  type Room,
  roomsOf,
} from "@trainyard/scheduling/determined";
import type { Case } from "./case-file.ts";
import { inOrder, mapping, mappings, numberOr, texts } from "./read-case.ts";
import { difference } from "./same.ts";
import { agentOf, fitRulesOf } from "./scheduled-pool.ts";

function partsOf(one: Case): readonly Part[] | null {
  const task = mapping(one["task"]);
  return findFits(
    {
      id: String(task["allocation_id"]),
      slots: Number(task["slots"]),
      singleAgent: task["single_agent"] === true,
      blockedAgents: texts(task["blocked_nodes"]),
    },
    roomsOf(mappings(one["agents"]).map(agentOf)),
    fitRulesOf(one),
  );
}

function findFit(one: Case): string | null {
  return difference(partsOf(one)?.[0]?.agent, one["expect_first_fit_agent"]);
}

function blockedNodes(one: Case): string | null {
  const agents = (partsOf(one) ?? []).map(({ agent }) => agent);
  return difference(inOrder(agents), inOrder(one["expect_fit_agents"]));
}

/** The agents are named by their index, and have no tasks. */
function dedicatedFits(one: Case): string | null {
  const agents = texts(one["agent_capacities"]).map(
    (capacity, at): DeterminedAgent => ({
      id: String(at),
      slots: Number(capacity),
      usedSlots: 0,
      slotlessMax: 0,
      slotless: 0,
      takesWork: true,
    }),
  );
  const task = {
    id: "task",
    slots: numberOr(one["slots_needed"], 0),
    singleAgent: false,
    blockedAgents: [],
  };
  const parts = dedicatedFit(task, roomsOf(agents), fitRulesOf(one)) ?? [];
  const wantedAgents = one["expect_agent_indices"];
  const found =
    wantedAgents === undefined
      ? null
      : difference(inOrder(parts.map(({ agent }) => agent)), inOrder(wantedAgents));
  const count = one["expect_num_agents"];
  return found ?? (count === undefined ? null : difference(parts.length, count));
}

function roomOf(agent: JsonObject): Room {
  const [room] = roomsOf([agentOf(agent)]).values();
  if (room === undefined) throw new Error("it has no agent");
  return room;
}

function score(one: Case): string | null {
  const room = roomOf(mapping(one["agent"]));
  const found = fitScore(fitRulesOf(one).policy, Number(one["slots_needed"]), room);
  return difference(found, one["expect_score"]);
}

function isViable(one: Case): string | null {
  if (one["constraint"] !== "slots" && one["constraint"] !== undefined) {
    return `${JSON.stringify(one["constraint"])} is not a constraint that is known here`;
  }
  const room = roomOf(mapping(one["agent"]));
  return difference(hasRoom(room, Number(one["slots_needed"])), one["expect"]);
}

export const fittingChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  find_fits: findFit,
  dedicated_fits: dedicatedFits,
  fit_scores: score,
  is_viable: isViable,
  blocked_nodes: blockedNodes,
};
