import type { Plain } from "@trainyard/contracts";
import type { Disabled } from "@trainyard/contracts/api";
import type { Slot as Offered } from "@trainyard/contracts/events";
import type { AgentDocument, DocumentSet } from "./documents.ts";
import { taskWaits } from "./project-task.ts";
import { changeRun } from "./project-trial.ts";
import { type Projections, runOf } from "./projections.ts";

export const agentProjections: Projections = {
  AgentJoined({ id, data }, documents) {
    const before = documents.get("agent", id);
    const { pool, version, labels, processGroups, protocol, protocolOldest, engine, runsAsRoot } =
      data;
    const slots = slotsOf(data.slots, before?.slots ?? []);
    const { engine: _engine, runsAsRoot: _runsAsRoot, ...kept } = before ?? {};
    const doc: AgentDocument = {
      disabledSlots: [],
      notices: [],
      ...kept,
      name: id,
      pool,
      state: "CONNECTED",
      slots,
      version,
      labels,
      protocol,
      protocolOldest,
      nameRefused: "",
      processGroups,
      ...(engine === undefined ? {} : { engine }),
      ...(runsAsRoot === undefined ? {} : { runsAsRoot }),
    };
    documents.put({ kind: "agent", id, parent: pool, ordinal: 0, doc });
  },
  AgentLost({ id }, documents) {
    runsWait(documents, id, `its agent ${id}, which is lost`);
    documents.replace("agent", id, ({ silence: _over, ...doc }) => ({ ...doc, state: "LOST" }));
  },
  AgentsSilent({ data: { agents, reason, waitMs }, timeMs }, documents) {
    const silence = { reason, untilMs: timeMs + waitMs };
    for (const agent of agents) documents.update("agent", agent, () => ({ silence }));
  },
  AgentsHeard({ data }, documents) {
    for (const agent of data.agents) {
      documents.replace("agent", agent, ({ silence: _over, ...doc }) => doc);
    }
  },
  AgentReturned({ id, data }, documents) {
    runsWait(documents, id, "");
    const holder = new Map(
      data.occupations.flatMap(({ allocation, slots }) => slots.map((slot) => [slot, allocation])),
    );
    documents.update("agent", id, ({ slots: before }) => {
      const held = before.map((slot) => ({ ...slot, run: holder.get(slot.id) ?? "", left: "" }));
      const slots = slotsOf(data.slots, held).map((slot) => ({
        ...slot,
        run: holder.get(slot.id) ?? "",
      }));
      return { state: "CONNECTED", slots, nameRefused: "" };
    });
  },
  AgentNameRefused({ id, data }, documents) {
    const where = data.address === "" ? "" : ` at ${data.address}`;
    const nameRefused = `another agent${where} asks for this name and is refused`;
    documents.update("agent", id, () => ({ nameRefused }));
  },
  AgentNameCleared({ id }, documents) {
    documents.update("agent", id, () => ({ nameRefused: "" }));
  },
  /** A removed agent is forgotten, unless users have taken it or its slots out of use. */
  AgentRemoved({ id }, documents) {
    const { disabled, disabledSlots = [] } = documents.get("agent", id) ?? {};
    if (disabled === undefined && disabledSlots.length === 0) {
      documents.remove({ kind: "agent", id });
    }
    documents.replace("agent", id, ({ undelivered: _givenUp, silence: _over, ...doc }) => ({
      ...doc,
      notices: [],
      state: "REMOVED",
    }));
  },
  AgentDisabled({ id, data, timeMs }, documents) {
    const disabled = { state: "DISABLED", reason: data.reason, sinceMs: timeMs };
    documents.update("agent", id, () => ({ disabled }));
  },
  AgentDrainRequested({ id, data, timeMs }, documents) {
    documents.update("agent", id, ({ disabled }) => ({
      disabled: {
        state: "DRAINING",
        reason: data.reason,
        sinceMs: timeMs,
        ...deadlineAfter(disabled, data.deadlineMs, timeMs),
      },
    }));
  },
  AgentDrained({ id }, documents) {
    documents.replace("agent", id, (doc) => {
      if (doc.disabled === undefined) return doc;
      const { deadlineAtMs: _over, ...disabled } = doc.disabled;
      return { ...doc, disabled: { ...disabled, state: "DRAINED" } };
    });
  },
  AgentEnabled({ id }, documents) {
    documents.replace("agent", id, ({ disabled: _over, ...doc }) => doc);
  },
  SlotDisabled({ id, data, timeMs }, documents) {
    const { slot, reason, drain, deadlineMs } = data;
    documents.update("agent", id, ({ disabledSlots }) => {
      const before = disabledSlots.find((one) => one.slot === slot);
      const since = { slot, reason, sinceMs: timeMs };
      const disabled = drain
        ? { ...since, state: "DRAINING", ...deadlineAfter(before, deadlineMs, timeMs) }
        : { ...since, state: "DISABLED" };
      return { disabledSlots: [...disabledSlots.filter((one) => one !== before), disabled] };
    });
  },
  SlotEnabled({ id, data }, documents) {
    documents.update("agent", id, ({ disabledSlots }) => ({
      disabledSlots: disabledSlots.filter(({ slot }) => slot !== data.slot),
    }));
  },
  AgentDistrusted({ id, data, timeMs }, documents) {
    const { failures, experiments, reason, forMs } = data;
    const distrust = { failures, experiments, reason, untilMs: timeMs + forMs };
    documents.update("agent", id, () => ({ distrust }));
  },
  AgentTrusted({ id }, documents) {
    documents.replace("agent", id, ({ distrust: _mended, ...doc }) => doc);
  },
  AgentDiskLow({ id, data }, documents) {
    const notPlaced = `its disk has ${megabytes(data.freeBytes)} MB left, and a run needs ${megabytes(data.floorBytes)} MB`;
    documents.update("agent", id, () => ({ notPlaced }));
  },
  AgentDiskFreed({ id }, documents) {
    documents.update("agent", id, () => ({ notPlaced: "" }));
  },
  CheckpointsLeft({ id, data }, documents) {
    documents.replace("agent", id, ({ undelivered: _before, ...doc }) =>
      data.checkpoints === 0 ? doc : { ...doc, undelivered: data },
    );
  },
  AgentNoticed({ id, data }, documents) {
    documents.update("agent", id, () => ({ notices: data.notices }));
  },
  ProcessesLeft({ id, data }, documents) {
    const { allocation, message } = data;
    changeSlots(documents, id, (slot) =>
      slot.run === allocation ? { ...slot, left: message } : slot,
    );
  },
  AllocationGranted({ id, data }, documents) {
    for (const { agent, slots } of data.placements) hold(documents, agent, slots, id);
  },
  AllocationEnded({ id, data }, documents) {
    const silent = data.launchFailure?.silent ?? [];
    for (const { agent } of data.exits) {
      // An agent that did not answer about the launch keeps the run's slots until it reports them as cleared.
      if (silent.includes(agent)) continue;
      changeSlots(documents, agent, (slot) =>
        slot.run === id ? { ...slot, run: "", left: "" } : slot,
      );
    }
  },
  SlotsCleared({ id, data }, documents) {
    hold(documents, id, data.slots, "");
  },
};

/** Says for what the runs on an agent's slots wait; empty for nothing. */
function runsWait(documents: DocumentSet, agent: string, waitsFor: string): void {
  for (const id of runsOn(documents, agent)) {
    taskWaits(documents, id, waitsFor);
    const { trial, run } = runOf(id) ?? { trial: "", run: 0 };
    changeRun(documents, trial, run, ({ state }) => (state === "ENDED" ? {} : { waitsFor }));
  }
}

/** Returns the runs on an agent's slots. */
export function runsOn(documents: DocumentSet, agent: string): readonly string[] {
  const { slots = [] } = documents.get("agent", agent) ?? {};
  return [...new Set(slots.map(({ run }) => run))].filter((run) => run !== "");
}

/** Returns the deadline of a drain. A drain during another drain keeps the earlier deadline. */
function deadlineAfter(
  before: Plain<Disabled> | undefined,
  deadlineMs: number | undefined,
  timeMs: number,
): { readonly deadlineAtMs?: number } {
  const atMs = deadlineMs === undefined ? Infinity : timeMs + deadlineMs;
  const deadlineAtMs = Math.min(before?.deadlineAtMs ?? Infinity, atMs);
  return deadlineAtMs === Infinity ? {} : { deadlineAtMs };
}

function hold(documents: DocumentSet, agent: string, slots: readonly string[], run: string): void {
  changeSlots(documents, agent, (slot) =>
    slots.includes(slot.id) ? { ...slot, run, left: "" } : slot,
  );
}

type Slot = AgentDocument["slots"][number];

/**
 * Returns the offered slots, each with the run that uses it. A slot that is no longer offered stays in the list until
 * its run has ended.
 */
function slotsOf(offered: readonly Plain<Offered>[], before: readonly Slot[]): readonly Slot[] {
  const held = new Map(before.map((slot) => [slot.id, slot]));
  const now = offered.map(({ id, device, memoryBytes, name = "" }) => {
    const { run = "", left = "" } = held.get(id) ?? {};
    return { id, device, run, left, name, memoryBytes };
  });
  const ids = new Set(offered.map(({ id }) => id));
  const withdrawn = before.filter(({ id, run }) => run !== "" && !ids.has(id));
  return [...now, ...withdrawn.map((slot) => ({ ...slot, withdrawn: true }))];
}

function changeSlots(documents: DocumentSet, agent: string, change: (slot: Slot) => Slot): void {
  documents.update("agent", agent, (doc) => ({
    slots: doc.slots.map(change).filter(({ run, withdrawn }) => withdrawn !== true || run !== ""),
  }));
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024));
}
