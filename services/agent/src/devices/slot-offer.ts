/**
 * The slots that the agent offers. The kind is decided once, at the start; each look decides which of its devices are
 * healthy. A device that is broken or no longer listed withdraws its slot until it is back. A single failed look
 * withdraws no device, only several in a row do.
 */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import type { Device, Devices, DeviceProbe, SeenProcess } from "./devices.ts";
import { artificialSlots, cpuSlots } from "./host-slots.ts";

export type OfferSettings = {
  readonly slotType: "auto" | "cuda" | "rocm" | "cpu" | "none";
  /** Numbers, UUIDs or prefixes of UUIDs; empty for all devices. */
  readonly visibleDevices: readonly string[];
  readonly artificialSlots: number;
  readonly cpuSlots: number;
};

type DeviceEvents = Pick<
  Telemetry,
  "deviceProblem" | "deviceLeft" | "deviceReturned" | "slotsOffered"
>;

export type OfferDeps = {
  readonly settings: OfferSettings;
  readonly cuda: Devices;
  readonly rocm: Devices;
  readonly events: DeviceEvents;
};

/** Why devices cannot be offered, by the ids of their slots. */
export type BusyDevices = (processes: readonly SeenProcess[]) => ReadonlyMap<string, string>;

type Gone = { readonly slot: Plain<Slot>; readonly why: string };

/** Lists the host's devices, and decides which slots to offer. Never throws. */
export async function findOffer(deps: OfferDeps, signal: AbortSignal): Promise<SlotOffer> {
  const offer = await chooseOffer(deps, signal);
  deps.events.slotsOffered(offer.slots);
  return offer;
}

async function chooseOffer(deps: OfferDeps, signal: AbortSignal): Promise<SlotOffer> {
  const { settings, events } = deps;
  const { slotType, visibleDevices } = settings;
  if (settings.artificialSlots > 0) return new SlotOffer(artificialSlots(settings.artificialSlots));
  if (slotType === "none") return new SlotOffer([]);
  const kinds = slotType === "auto" ? (["cuda", "rocm"] as const) : [slotType];
  for (const kind of kinds) {
    if (kind === "cpu") continue;
    const devices = deps[kind];
    const offer = new SlotOffer([], { devices, visibleDevices, events });
    const look = await devices.look(signal);
    // A host without GPUs need not have the program.
    if (slotType === "auto" && look.kind === "absent") continue;
    offer.take(look);
    if (slotType === kind || (look.kind === "seen" && look.devices.length > 0)) return offer;
  }
  return new SlotOffer(cpuSlots(settings.cpuSlots));
}

type Source = {
  readonly devices: Devices;
  readonly visibleDevices: readonly string[];
  readonly events: DeviceEvents;
};

export class SlotOffer {
  readonly #source: Source | null;
  #slots: readonly Plain<Slot>[];
  readonly #gone = new Map<string, Gone>();
  /** The ids of the slots that the settings allow, set once devices were listed; null for all. */
  #allowed: ReadonlySet<string> | null = null;
  #failedLooks = 0;
  #told: readonly string[] = [];

  /** A source is needed only for slots that can change. */
  constructor(slots: readonly Plain<Slot>[], source: Source | null = null) {
    this.#slots = slots;
    this.#source = source;
  }

  get slots(): readonly Plain<Slot>[] {
    return this.#slots;
  }

  get mayChange(): boolean {
    return this.#source !== null;
  }

  /** Returns true if the offer has changed. `busy` judges the processes on the devices. */
  async look(signal: AbortSignal, busy: BusyDevices = () => new Map()): Promise<boolean> {
    if (this.#source === null) return false;
    const look = await this.#source.devices.look(signal);
    if (signal.aborted) return false;
    if (look.kind !== "seen") return this.take(look);
    const why = busy(look.processes);
    const devices = look.devices.map((device) => {
      const { problem, slot } = device;
      return { ...device, problem: problem ?? why.get(slot.id) ?? null };
    });
    return this.take({ ...look, devices });
  }

  /** A sentence for each slot that is not offered any more. */
  get withdrawn(): readonly string[] {
    return [...this.#gone.keys()].flatMap((id) => this.problemOf(id) ?? []);
  }

  /** The slots of a run. Throws if the agent does not offer one of them. */
  slotsOf(ids: readonly string[]): readonly Plain<Slot>[] {
    return ids.map((id) => {
      const slot = this.#slots.find((one) => one.id === id);
      if (slot === undefined) throw new Error(this.problemOf(id) ?? id);
      return slot;
    });
  }

  /** Says which of these slots the agent does not offer, and why; empty for none. */
  problemsOf(ids: readonly string[]): string {
    return ids.flatMap((id) => this.problemOf(id) ?? []).join("; ");
  }

  /** The reason why a slot is not offered; null for an offered slot. */
  problemOf(id: string): string | null {
    if (this.#slots.some((slot) => slot.id === id)) return null;
    const gone = this.#gone.get(id);
    if (gone === undefined) return `slot ${id} is not offered by this agent`;
    const { name = "" } = gone.slot;
    return `slot ${id}${name === "" ? "" : ` (${name})`} is not offered any more: ${gone.why}`;
  }

  /** Returns true if the offer has changed. */
  take(look: DeviceProbe): boolean {
    if (this.#source === null) return false;
    const { program } = this.#source.devices;
    if (look.kind === "seen") {
      this.#failedLooks = 0;
      const unmatched = this.#allow(look.devices, this.#source.visibleDevices);
      this.#tell([...look.problems, ...unmatched]);
      const allowed = look.devices.filter(({ slot }) => this.#allowed?.has(slot.id) ?? true);
      return this.#change(allowed, `${program} does not list it`);
    }
    const problem =
      look.kind === "failed" ? look.problem : `${program} was not found on the agent's PATH`;
    this.#tell([problem]);
    this.#failedLooks += 1;
    if (this.#failedLooks < limits.deviceFailedLooks) return false;
    return this.#change([], problem);
  }

  /** Numbers are resolved once: they shift when a device disappears, and must not let in a device of another agent. */
  #allow(devices: readonly Device[], entries: readonly string[]): readonly string[] {
    if (entries.length === 0 || this.#allowed !== null || devices.length === 0) return [];
    const matches = (entry: string, { slot, index }: Device): boolean =>
      /^\d+$/.test(entry) ? Number(entry) === index : slot.uuid.startsWith(entry);
    const allowed = devices.filter((device) => entries.some((entry) => matches(entry, device)));
    this.#allowed = new Set(allowed.map(({ slot }) => slot.id));
    return entries
      .filter((entry) => !devices.some((device) => matches(entry, device)))
      .map((entry) => `TRAINYARD_AGENT_VISIBLE_DEVICES has ${entry}, which is no device here`);
  }

  #change(devices: readonly Device[], otherwise: string): boolean {
    const before = JSON.stringify(this.#slots);
    const known = new Map([...this.#gone.values()].map(({ slot }) => [slot.id, slot]));
    for (const { slot } of devices) known.set(slot.id, slot);
    for (const slot of this.#slots) known.set(slot.id, slot);
    const problems = new Map(devices.map(({ slot, problem }) => [slot.id, problem]));
    this.#slots = devices.filter(({ problem }) => problem === null).map(({ slot }) => slot);
    for (const slot of known.values()) {
      const problem = problems.get(slot.id);
      this.#note(slot, problem === undefined ? otherwise : problem);
    }
    return JSON.stringify(this.#slots) !== before;
  }

  /** `why` is null for a slot that is offered. */
  #note(slot: Plain<Slot>, why: string | null): void {
    const gone = this.#gone.get(slot.id);
    if (gone?.why === why) return;
    if (why !== null) {
      this.#gone.set(slot.id, { slot, why });
      this.#source?.events.deviceLeft(slot.id, slot.name ?? "", why);
    } else if (this.#gone.delete(slot.id)) {
      this.#source?.events.deviceReturned(slot.id, slot.name ?? "");
    }
  }

  /** Logs each sentence once, and again only after it has ceased to apply. */
  #tell(problems: readonly string[]): void {
    for (const problem of problems) {
      if (!this.#told.includes(problem)) this.#source?.events.deviceProblem(problem);
    }
    this.#told = problems;
  }
}
