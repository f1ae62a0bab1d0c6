import { createLogger, createRegistry } from "@trainyard/runtime";
import { describe, expect, test } from "vitest";
import { createTelemetry } from "../telemetry.ts";
import type { Device, Devices, DeviceProbe } from "./devices.ts";
import { findOffer, type OfferSettings, type SlotOffer } from "./slot-offer.ts";

const signal = new AbortController().signal;
const telemetry = createTelemetry(createRegistry("agent"), createLogger("agent", "silent"));

/** Fake devices; the test sets each result. */
class PlayedDevices implements Devices {
  readonly program: string;
  result: DeviceProbe = { kind: "absent" };

  constructor(program: string) {
    this.program = program;
  }

  see(...devices: readonly Device[]): void {
    this.result = { kind: "seen", devices, processes: [], problems: [] };
  }

  look(): Promise<DeviceProbe> {
    return Promise.resolve(this.result);
  }
}

function deviceOf(letter: string, index: number, more: Partial<Device> = {}): Device {
  const uuid = `GPU-${letter.repeat(8)}`;
  const slot = { id: uuid, device: "cuda", uuid, memoryBytes: 1, name: "A100" };
  return { slot, index, problem: null, ...more };
}

const [a, b, c] = [deviceOf("a", 0), deviceOf("b", 1), deviceOf("c", 2)];

function play() {
  const cuda = new PlayedDevices("nvidia-smi");
  const rocm = new PlayedDevices("rocm-smi");
  const told: string[] = [];
  const events = {
    ...telemetry,
    deviceProblem: (problem: string) => told.push(problem),
    deviceLeft: (slot: string, _name: string, why: string) => told.push(`${slot} left: ${why}`),
    deviceReturned: (slot: string) => told.push(`${slot} is back`),
  };
  const find = (settings: Partial<OfferSettings> = {}): Promise<SlotOffer> => {
    const none = { slotType: "auto", visibleDevices: [], artificialSlots: 0, cpuSlots: 2 } as const;
    return findOffer({ settings: { ...none, ...settings }, cuda, rocm, events }, signal);
  };
  return { cuda, rocm, told, find };
}

const idsOf = (offer: SlotOffer) => offer.slots.map(({ id }) => id.slice(0, 5));
const kindsOf = (offer: SlotOffer) => offer.slots.map(({ device }) => device);

describe("the offer of an agent", () => {
  test("auto is cuda if nvidia-smi lists GPUs, then rocm, else cpu, without a log line on a host without GPUs", async () => {
    const { cuda, rocm, told, find } = play();
    expect(kindsOf(await find())).toEqual(["cpu", "cpu"]);
    rocm.see({ ...a, slot: { ...a.slot, device: "rocm" } });
    expect(kindsOf(await find())).toEqual(["rocm"]);
    cuda.see(b);
    expect(kindsOf(await find())).toEqual(["cuda"]);
    cuda.see();
    expect(kindsOf(await find())).toEqual(["rocm"]);
    expect(told).toEqual([]);
  });

  test("a configured kind is offered even without devices, and the log says why there are none", async () => {
    const { rocm, told, find } = play();
    expect((await find({ slotType: "cuda" })).slots).toEqual([]);
    rocm.result = { kind: "failed", problem: "rocm-smi gave no answer within 20 s" };
    expect((await find({ slotType: "rocm" })).slots).toEqual([]);
    expect(told).toEqual([
      "nvidia-smi was not found on the agent's PATH",
      "rocm-smi gave no answer within 20 s",
    ]);
  });

  test("cpu offers the configured number of slots, even on a host with GPUs, and none offers no slots", async () => {
    const { cuda, find } = play();
    cuda.see(a);
    const offer = await find({ slotType: "cpu", cpuSlots: 3 });
    expect(kindsOf(offer)).toEqual(["cpu", "cpu", "cpu"]);
    expect(offer.slots[2]).toMatchObject({ id: "2", uuid: "" });
    expect(offer.slots[2]?.memoryBytes).toBeGreaterThan(0);
    expect((await find({ slotType: "none" })).slots).toEqual([]);
  });

  test("artificial slots replace all others", async () => {
    const { cuda, find } = play();
    cuda.see(a);
    const { slots } = await find({ slotType: "cuda", artificialSlots: 2 });
    expect(slots).toMatchObject([
      { id: "0", device: "cpu", name: "artificial" },
      { id: "1", device: "cpu", name: "artificial" },
    ]);
  });

  test("only the devices that the settings name, by number or UUID, are offered", async () => {
    const { cuda, told, find } = play();
    cuda.see(a, b, c);
    expect(idsOf(await find({ visibleDevices: ["2", "GPU-aaaa"] }))).toEqual(["GPU-a", "GPU-c"]);
    expect(told).toEqual([]);
    expect(idsOf(await find({ visibleDevices: ["1", "7"] }))).toEqual(["GPU-b"]);
    expect(told).toEqual(["TRAINYARD_AGENT_VISIBLE_DEVICES has 7, which is no device here"]);
  });

  test("a number means the same device after another has disappeared", async () => {
    const { cuda, find } = play();
    cuda.see(a, b, c);
    const offer = await find({ visibleDevices: ["1"] });
    cuda.see({ ...b, index: 0 }, { ...c, index: 1 });
    expect(await offer.look(signal)).toBe(false);
    expect(idsOf(offer)).toEqual(["GPU-b"]);
  });
});

describe("a device", () => {
  test("that is broken withdraws its slot until it has recovered", async () => {
    const { cuda, told, find } = play();
    cuda.see(a, b);
    const offer = await find();
    cuda.see(a, { ...b, problem: 'nvidia-smi reports "GPU is lost"' });
    expect(await offer.look(signal)).toBe(true);
    expect(await offer.look(signal)).toBe(false);
    expect(idsOf(offer)).toEqual(["GPU-a"]);
    const problem = `slot ${b.slot.id} (A100) is not offered any more: nvidia-smi reports "GPU is lost"`;
    expect(offer.problemsOf([a.slot.id, b.slot.id])).toBe(problem);
    expect(() => offer.slotsOf([b.slot.id])).toThrow(problem);
    cuda.see(a, b);
    expect(await offer.look(signal)).toBe(true);
    expect(offer.slotsOf([b.slot.id])).toEqual([b.slot]);
    expect(offer.problemsOf([b.slot.id])).toBe("");
    expect(told).toEqual([
      `${b.slot.id} left: nvidia-smi reports "GPU is lost"`,
      `${b.slot.id} is back`,
    ]);
  });

  test("that is broken from the start is not offered, and the log names it", async () => {
    const { cuda, told, find } = play();
    cuda.see({ ...a, problem: "the driver asks for a recovery action: Reset" });
    expect((await find()).slots).toEqual([]);
    expect(told).toEqual([`${a.slot.id} left: the driver asks for a recovery action: Reset`]);
  });

  test("that is not listed any more withdraws its slot, and the other slots stay", async () => {
    const { cuda, told, find } = play();
    cuda.see(a, b, c);
    const offer = await find();
    cuda.see(a, { ...c, index: 1 });
    expect(await offer.look(signal)).toBe(true);
    expect(offer.slots).toEqual([a.slot, c.slot]);
    expect(told).toEqual([`${b.slot.id} left: nvidia-smi does not list it`]);
    expect(offer.problemsOf(["elsewhere"])).toBe("slot elsewhere is not offered by this agent");
  });

  test("stays when one look fails, and is withdrawn with all others when the next look fails too", async () => {
    const { cuda, told, find } = play();
    cuda.see(a);
    const offer = await find();
    cuda.result = { kind: "failed", problem: "nvidia-smi gave no answer within 20 s" };
    expect(await offer.look(signal)).toBe(false);
    expect(idsOf(offer)).toEqual(["GPU-a"]);
    expect(await offer.look(signal)).toBe(true);
    expect(offer.slots).toEqual([]);
    cuda.see(a);
    expect(await offer.look(signal)).toBe(true);
    expect(idsOf(offer)).toEqual(["GPU-a"]);
    expect(told).toEqual([
      "nvidia-smi gave no answer within 20 s",
      `${a.slot.id} left: nvidia-smi gave no answer within 20 s`,
      `${a.slot.id} is back`,
    ]);
  });
});
