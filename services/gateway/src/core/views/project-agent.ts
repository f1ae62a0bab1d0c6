import type { DocumentSet } from "./documents.ts";
import { type Projections } from "./projections.ts";

export const agentProjections: Projections = {
  AgentJoined({ id, data }, documents) {
    const slots = data.slots.map((slot) => ({ id: slot.id, device: slot.device, run: "" }));
    const { pool, version } = data;
    documents.put({
      kind: "agent",
      id,
      parent: pool,
      ordinal: 0,
      doc: { name: id, pool, state: "CONNECTED", slots, version },
    });
  },
  AgentLost({ id }, documents) {
    documents.update("agent", id, () => ({ state: "LOST" }));
  },
  AgentReturned({ id, data }, documents) {
    const holder = new Map(
      data.occupations.flatMap(({ allocation, slots }) => slots.map((slot) => [slot, allocation])),
    );
    const slots = data.slots.map((slot) => ({
      id: slot.id,
      device: slot.device,
      run: holder.get(slot.id) ?? "",
    }));
    documents.update("agent", id, () => ({ state: "CONNECTED", slots, nameRefused: "" }));
  },
  AgentNameRefused({ id, data }, documents) {
    const where = data.address === "" ? "" : ` at ${data.address}`;
    const nameRefused = `another agent${where} asks for this name and is refused`;
    documents.update("agent", id, () => ({ nameRefused }));
  },
  AgentNameCleared({ id }, documents) {
    documents.update("agent", id, () => ({ nameRefused: "" }));
  },
  AgentRemoved({ id }, documents) {
    documents.update("agent", id, () => ({ state: "REMOVED" }));
  },
  AllocationGranted({ id, data }, documents) {
    for (const { agent, slots } of data.placements) hold(documents, agent, slots, id);
  },
  SlotsCleared({ id, data }, documents) {
    hold(documents, id, data.slots, "");
  },
};

function hold(documents: DocumentSet, agent: string, slots: readonly string[], run: string): void {
  documents.update("agent", agent, (doc) => ({
    slots: doc.slots.map((slot) => (slots.includes(slot.id) ? { ...slot, run } : slot)),
  }));
}
