import type { Device, Devices, DeviceProbe } from "./devices.ts";
import {
  type Gpu,
  type GpuPlace,
  listParameters,
  parseGpus,
  parseProcesses,
  parseRecovery,
  parseTopology,
  processParameters,
  recoveryParameters,
  topologyParameters,
} from "./nvidia-smi.ts";
import { firstLine, type VendorProgram } from "./vendor-program.ts";

/** NVIDIA's GPUs, as nvidia-smi lists them. A GPU that is divided by MIG counts as one device. */
export class NvidiaDevices implements Devices {
  readonly program = "nvidia-smi";
  readonly #smi: VendorProgram;
  /** The place of each GPU by its UUID; read again only when the host's GPUs change. */
  #places: ReadonlyMap<string, GpuPlace> = new Map();
  #placesOf = "";

  constructor(smi: VendorProgram) {
    this.#smi = smi;
  }

  async look(signal: AbortSignal): Promise<DeviceProbe> {
    const listed = await this.#smi.run(listParameters, signal);
    if (listed.kind === "missing") return { kind: "absent" };
    if (listed.kind === "failed") return listed;
    const { gpus, problems, isUnderstood } = parseGpus(listed.output);
    if (!isUnderstood) {
      const said = firstLine(listed.output);
      const problem = said === "" ? "printed nothing" : `printed what is not understood: ${said}`;
      return { kind: "failed", problem: listed.problem ?? `nvidia-smi ${problem}` };
    }
    // An nvidia-smi without this field exits with an error, so no recovery action is known.
    const recovery = await this.#smi.run(recoveryParameters, signal);
    const asked = parseRecovery(recovery.kind === "ended" ? recovery.output : "");
    const used = await this.#smi.run(processParameters, signal);
    const placesProblem = await this.#findPlaces(gpus, signal);
    return {
      kind: "seen",
      devices: gpus.map((gpu) => this.#deviceOf(gpu, asked.get(gpu.uuid))),
      processes: parseProcesses(used.kind === "ended" ? used.output : ""),
      problems: [
        ...problems.map((problem) => `nvidia-smi: ${problem}`),
        ...(recovery.kind === "failed" ? [recovery.problem] : []),
        ...placesProblem,
      ],
    };
  }

  async #findPlaces(gpus: readonly Gpu[], signal: AbortSignal): Promise<readonly string[]> {
    const those = gpus.map(({ uuid }) => uuid).join();
    if (those === this.#placesOf) return [];
    this.#placesOf = those;
    const topology = await this.#smi.run(topologyParameters, signal);
    const byIndex = parseTopology(topology.kind === "ended" ? topology.output : "");
    this.#places = new Map(gpus.map(({ uuid, index }) => [uuid, byIndex.get(index) ?? {}]));
    if (gpus.length === 0 || byIndex.size > 0) return [];
    const { problem = null } = topology.kind === "missing" ? {} : topology;
    const why = problem ?? "nvidia-smi topo -m printed no matrix";
    return [`${why}: NUMA nodes and NVLink groups of the GPUs are not known`];
  }

  #deviceOf(gpu: Gpu, asked: string | undefined): Device {
    const { index, uuid, name, memoryBytes, problem } = gpu;
    const named = name === "" ? {} : { name };
    const slot = {
      id: uuid,
      device: "cuda",
      uuid,
      memoryBytes,
      ...named,
      ...this.#places.get(uuid),
    };
    const asks = asked === undefined ? null : `the driver asks for a recovery action: ${asked}`;
    return { slot, index, problem: problem ?? asks };
  }
}
