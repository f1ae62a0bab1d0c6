/** Cases of Determined's autoscaling: the wanted agents, and the machines that it starts and ends. */
import type { JsonObject } from "@trainyard/experiment-config";
import {
  agentsToLaunch,
  type Ending,
  type Instance,
  instancesToEnd,
  type Judgement,
  judgeInstances,
  type Marks,
  noMarks,
} from "@trainyard/scheduling/autoscaling";
import { determinedNewAgents, isIdleAgent, slotTypeOf } from "@trainyard/scheduling/determined";
import type { Case } from "./case-file.ts";
import { type Fields, inOrder, mapping, mappings, numberOr, texts } from "./read-case.ts";
import { difference } from "./same.ts";

const SECOND = 1_000;
/** The time of every case; only periods before it matter. */
const NOW_MS = 0;

const entries = (value: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries(mapping(value));

function desiredNewAgents(one: Case): string | null {
  const jobs = new Map(
    entries(one["groups"]).map(([job, maxSlots]) => [
      job,
      { maxSlots: typeof maxSlots === "number" ? maxSlots : null },
    ]),
  );
  const tasksOf = (key: string, placement: [] | null) =>
    mappings(one[key]).map(({ id, slots, group }) => ({
      job: String(group ?? id),
      slots: Number(slots),
      placement,
    }));
  const tasks = [...tasksOf("pending", null), ...tasksOf("allocated", [])];
  return difference(determinedNewAgents(tasks, jobs, sizeOf(one)), one["expect"]);
}

function sizeOf(one: Case) {
  return {
    slotsPerAgent: Number(one["slots_per_agent"]),
    slotlessPerAgent: Number(one["max_aux_per_agent"]),
  };
}

function instanceOf(id: string, fields: JsonObject, agent: Instance["agent"]): Instance {
  const state = fields["state"];
  return {
    id,
    launchedAtMs: NOW_MS - Number(fields["launched_seconds_ago"]) * SECOND,
    state: state === "stopped" ? "stopped" : state === "pending" ? "pending" : "running",
    agent,
  };
}

/** Seconds since a mark, by instance. */
function marksOf(seconds: unknown): ReadonlyMap<string, number> {
  return new Map(entries(seconds).map(([id, ago]) => [id, NOW_MS - Number(ago) * SECOND]));
}

const secondsSince = (marks: ReadonlyMap<string, number>): JsonObject =>
  Object.fromEntries([...marks].map(([id, atMs]) => [id, (NOW_MS - atMs) / SECOND]));

function limitsOf(one: Fields) {
  return {
    idleMs: numberOr(one["max_idle_s"], 0) * SECOND,
    startingMs: numberOr(one["max_starting_s"], 0) * SECOND,
    disconnectedMs: numberOr(one["max_disconnect_s"], 0) * SECOND,
  };
}

function instanceStates(one: Case): string | null {
  const [connected, idle] = [texts(one["connected_agents"]), texts(one["idle_agents"])];
  const instances = entries(one["instances"]).map(([id, fields]) => {
    const agent = idle.includes(id) ? "idle" : connected.includes(id) ? "busy" : "absent";
    return instanceOf(id, mapping(fields), agent);
  });
  const marks: Marks = {
    idleSinceMs: marksOf(one["prev_idle_since_s"]),
    disconnectedSinceMs: marksOf(one["prev_disconnected_since_s"]),
  };
  const judged = judgeInstances(instances, marks, limitsOf(one), NOW_MS);
  const expected = mapping(one["expect"]);
  const lists: Readonly<Record<string, readonly string[]>> = {
    long_disconnected: judged.longDisconnected,
    long_idle: judged.longIdle,
    stopped: judged.stopped,
    recently_launched: judged.starting,
  };
  const found = Object.entries(lists).map(([key, ids]) =>
    difference(inOrder(ids), inOrder(expected[key]), key),
  );
  return (
    found.find((text) => text !== null) ??
    difference(secondsSince(judged.marks.disconnectedSinceMs), mapping(expected["disconnected"])) ??
    difference(secondsSince(judged.marks.idleSinceMs), mapping(expected["idle"]))
  );
}

function instancesToTerminate(one: Case): string | null {
  const spot = [...texts(one["pending"]), ...texts(one["pending_spot"])];
  const instances = entries(one["instances"]).map(([id, seconds]) =>
    instanceOf(
      id,
      { launched_seconds_ago: Number(seconds), state: spot.includes(id) ? "pending" : "running" },
      "busy",
    ),
  );
  const since = (key: string) => new Map(texts(one[key]).map((id) => [id, NOW_MS]));
  const judged: Judgement = {
    marks: { idleSinceMs: since("idle"), disconnectedSinceMs: since("disconnected") },
    stopped: texts(one["stopped"]),
    starting: texts(one["recently_launched"]),
    longIdle: texts(one["long_idle"]),
    longDisconnected: texts(one["long_disconnected"]),
  };
  const limits = { agentsMin: Number(one["min"]), agentsMax: Number(one["max"]) };
  const ended = instancesToEnd(instances, judged, limits).map(({ id }) => id);
  return difference(inOrder(ended), inOrder(one["expect"]));
}

function numToLaunch(one: Case): string | null {
  const launched = agentsToLaunch(
    { agentsMin: Number(one["min"]), agentsMax: Number(one["max"]) },
    {
      instances: Number(one["num_instances"]),
      starting: Number(one["recently_launched"]),
      wanted: Number(one["desired_new"]),
    },
  );
  return difference(launched, one["expect"]);
}

/** The calls that a provider would get in each pass. */
function provisionHistory(one: Case): string | null {
  const idle = mapping(one["agents_idle"]);
  const agentOf = (name: unknown): Instance["agent"] =>
    idle[String(name)] === undefined ? "absent" : idle[String(name)] === true ? "idle" : "busy";
  let instances: readonly Instance[] = entries(one["initial"]).map(([id, fields]) =>
    instanceOf(id, mapping(fields), agentOf(mapping(fields)["agent"])),
  );
  const fleet = {
    agentsMin: numberOr(one["min_instances"], 0),
    agentsMax: Number(one["max_instances"]),
  };
  const calls: unknown[] = [];
  let marks = noMarks;
  for (let pass = 0; pass < Number(one["passes"]); pass += 1) {
    const nowMs = NOW_MS + pass * numberOr(one["wait_between_s"], 0) * SECOND;
    calls.push(["list"]);
    const judged = judgeInstances(instances, marks, limitsOf(one), nowMs);
    ({ marks } = judged);
    const ended = instancesToEnd(instances, judged, fleet);
    if (ended.length > 0) calls.push(["terminate", inOrder(ended.map(({ id }) => id))]);
    instances = instances.filter((instance) => !isEnded(instance, ended));
    const counts = { instances: instances.length, starting: judged.starting.length };
    const launched = agentsToLaunch(fleet, { ...counts, wanted: Number(one["desired_new"]) });
    if (launched > 0) calls.push(["launch", launched]);
    const fresh = Array.from({ length: launched }, (_, n) => ({
      id: `launched in pass ${pass + 1}, ${n + 1}`,
      launchedAtMs: nowMs,
      state: "running" as const,
      agent: "absent" as const,
    }));
    instances = [...instances, ...fresh];
  }
  return difference(calls, one["expect"]);
}

const isEnded = ({ id }: Instance, ended: readonly Ending[]): boolean =>
  ended.some((ending) => ending.id === id);

function slotTypeSummary(one: Case): string | null {
  const types = mappings(one["agents"]).flatMap(({ slot_type, slots }) =>
    Array.from({ length: numberOr(slots, 0) }, () => String(slot_type)),
  );
  return difference(slotTypeOf(types), one["expect"]);
}

function scalingInfo(one: Case): string | null {
  const tasks = texts(one["pending_slots"]).map((slots, at) => ({
    job: String(at),
    slots: Number(slots),
    placement: null,
  }));
  const idle = entries(one["agents"]).map(([id, fields]) => {
    const { busy_slots, aux } = mapping(fields);
    const use = { usedSlots: Number(busy_slots), slotless: numberOr(aux, 0) };
    return [id, isIdleAgent(use)] as const;
  });
  const shown = {
    desired_new: determinedNewAgents(tasks, new Map(), sizeOf(one)),
    idle: Object.fromEntries(idle),
  };
  return difference(shown, one["expect"]);
}

export const provisionerChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  desired_new_agents: desiredNewAgents,
  instance_states: instanceStates,
  instances_to_terminate: instancesToTerminate,
  num_to_launch: numToLaunch,
  provision_history: provisionHistory,
  slot_type_summary: slotTypeSummary,
  scaling_info: scalingInfo,
};
