import type { Device, Devices, DeviceProbe } from "./devices.ts";
import { firstLine, type VendorProgram } from "./vendor-program.ts";
import { type Card, listParameters, parseCards } from "./rocm-smi.ts";

/** AMD's GPUs, as rocm-smi lists them. It reports no health: only a GPU that is no longer listed is withdrawn. */
export class RocmDevices implements Devices {
  readonly program = "rocm-smi";
  readonly #smi: VendorProgram;

  constructor(smi: VendorProgram) {
    this.#smi = smi;
  }

  async look(signal: AbortSignal): Promise<DeviceProbe> {
    const listed = await this.#smi.run(listParameters, signal);
    if (listed.kind === "missing") return { kind: "absent" };
    if (listed.kind === "failed") return listed;
    const cards = parseCards(listed.output);
    if (cards !== null && cards.length > 0) {
      const problems = listed.problem === null ? [] : [listed.problem];
      return { kind: "seen", devices: cards.map(deviceOf), processes: [], problems };
    }
    if (listed.problem !== null) return { kind: "failed", problem: listed.problem };
    const said = firstLine(listed.output);
    // Without a GPU, rocm-smi prints a sentence, or nothing.
    if (cards !== null || said === "" || /no .*gpus?/i.test(said)) {
      return { kind: "seen", devices: [], processes: [], problems: [] };
    }
    return { kind: "failed", problem: `rocm-smi printed what is not understood: ${said}` };
  }
}

/** A card without a unique id is identified by its number, which ROCR_VISIBLE_DEVICES accepts too. */
function deviceOf({ index, uuid, name, memoryBytes, numaNode }: Card): Device {
  const slot = {
    id: uuid === "" ? String(index) : uuid,
    device: "rocm",
    uuid,
    memoryBytes,
    ...(name === "" ? {} : { name }),
    ...(numaNode === undefined ? {} : { numaNode }),
  };
  return { slot, index, problem: null };
}
