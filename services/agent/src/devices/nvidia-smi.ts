/**
 * The output of nvidia-smi, as text. Sources: the manual page "nvidia-smi - NVIDIA System Management Interface program"
 * (--query-gpu, --format=csv, topo -m with its legend) and "Error Recovery and Response Flags" of NVIDIA's "GPU Memory
 * Error Management" (the recovery action). No function here throws, since the output of another version may look
 * different.
 */
import { stripVTControlCharacters } from "node:util";
import { storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { SeenProcess } from "./devices.ts";

export const listParameters = [
  "--query-gpu=index,uuid,name,memory.total",
  "--format=csv,noheader,nounits",
];
/** Older versions of nvidia-smi refuse this field. */
export const recoveryParameters = [
  "--query-gpu=uuid,gpu_recovery_action",
  "--format=csv,noheader,nounits",
];
export const processParameters = [
  "--query-compute-apps=gpu_uuid,pid",
  "--format=csv,noheader,nounits",
];
export const topologyParameters = ["topo", "-m"];

export type Gpu = {
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  /** In bytes; 0 if nvidia-smi does not report it. */
  readonly memoryBytes: number;
  readonly problem: string | null;
};

export type GpuList = {
  readonly gpus: readonly Gpu[];
  /** Broken GPUs without a UUID, and lines beside the GPUs that cannot be parsed. */
  readonly problems: readonly string[];
  /** True if the output has a known form: a list, an empty list, or a broken GPU. */
  readonly isUnderstood: boolean;
};

const mebibyte = 1024 * 1024;
const uuidOf = /^GPU-[0-9A-Za-z-]{8,}$/;
/** A text in place of a value that marks a broken GPU. "[N/A]" and "[Not Supported]" do not. */
const brokenValue = /^\[(GPU is lost|GPU requires reset|Unknown Error)\]$/i;
const noHandle = /^Unable to determine the device handle for/i;
const noDevices = /^No devices were found/i;

export function parseGpus(text: string): GpuList {
  const gpus = new Map<string, Gpu>();
  const problems: string[] = [];
  const strange: string[] = [];
  let isNone = false;
  for (const line of linesOf(text)) {
    if (noDevices.test(line)) isNone = true;
    else if (noHandle.test(line)) problems.push(storable(line));
    else {
      const found = parseGpu(line);
      if (found === null) strange.push(line);
      else if (typeof found === "string") problems.push(found);
      else gpus.set(found.uuid, found);
    }
  }
  const isUnderstood = isNone || gpus.size > 0 || problems.length > 0;
  if (isUnderstood) {
    const notUnderstood = strange.map((line) => `a line is not understood: ${storable(line)}`);
    problems.push(...notUnderstood.slice(0, limits.deviceStrangeLinesMax));
  }
  return { gpus: [...gpus.values()], problems, isUnderstood };
}

/** A name may have commas; the other fields have none. Returns a text for a GPU that cannot be identified. */
function parseGpu(line: string): Gpu | string | null {
  const fields = line.split(",").map((field) => field.trim());
  const [index = "", uuid = ""] = fields;
  const memory = fields.at(-1) ?? "";
  if (fields.length < 4 || !/^\d{1,4}$/.test(index)) return null;
  const name = fields.slice(2, -1).join(", ");
  const broken = [uuid, name, memory].flatMap((field) => brokenValue.exec(field)?.[1] ?? [])[0];
  if (!uuidOf.test(uuid)) return broken === undefined ? null : `GPU ${index}: ${broken}`;
  const mebibytes = /^\d{1,9}$/.test(memory) ? Number(memory) : 0;
  return {
    index: Number(index),
    uuid,
    name: brokenValue.test(name) ? "" : storable(name),
    memoryBytes: mebibytes * mebibyte,
    problem: broken === undefined ? null : `nvidia-smi reports "${broken}"`,
  };
}

/** The recovery actions that the driver asks for, by UUID. */
export function parseRecovery(text: string): ReadonlyMap<string, string> {
  const asked = new Map<string, string>();
  for (const line of linesOf(text)) {
    const [uuid = "", action = ""] = line.split(",").map((field) => field.trim());
    const isNone = /^(none|n\/a|\[.*\]|)$/i.test(action);
    if (uuidOf.test(uuid) && !isNone) asked.set(uuid, storable(action));
  }
  return asked;
}

export function parseProcesses(text: string): readonly SeenProcess[] {
  return linesOf(text).flatMap((line) => {
    const [uuid = "", pid = ""] = line.split(",").map((field) => field.trim());
    return uuidOf.test(uuid) && /^[1-9]\d{0,8}$/.test(pid) ? [{ uuid, pid: Number(pid) }] : [];
  });
}

export type GpuPlace = {
  readonly numaNode?: number;
  /**
   * The lowest index of the GPUs that NVLink connects with this one, directly or through others; absent without NVLink.
   */
  readonly nvlinkGroup?: number;
};

/**
 * Returns the place of each GPU by its index. The columns are separated by tabs; the header may be underlined by escape
 * codes.
 */
export function parseTopology(text: string): ReadonlyMap<number, GpuPlace> {
  const lines = stripVTControlCharacters(text).split("\n");
  const rows = lines.map((line) => line.split(/\t+/).map((cell) => cell.trim()));
  const header = rows.find((cells) => cells[0] === "" && gpuIndex(cells[1] ?? "") !== null);
  if (header === undefined) return new Map();
  const numaColumn = header.indexOf("NUMA Affinity");
  const numaNodes = new Map<number, number>();
  const group = new Map<number, number>();
  for (const cells of rows) {
    const index = gpuIndex(cells[0] ?? "");
    if (index === null) continue;
    const numa = cells.length >= header.length ? (cells[numaColumn] ?? "") : "";
    if (/^\d{1,4}$/.test(numa)) numaNodes.set(index, Number(numa));
    for (const [column, cell] of cells.entries()) {
      const other = gpuIndex(header[column] ?? "");
      if (column > 0 && other !== null && /^NV\d+$/.test(cell)) join(group, index, other);
    }
  }
  const indices = rows.flatMap((cells) => gpuIndex(cells[0] ?? "") ?? []);
  return new Map(
    indices.map((index) => {
      const numaNode = numaNodes.get(index);
      const nvlinkGroup = group.get(index);
      const place = {
        ...(numaNode === undefined ? {} : { numaNode }),
        ...(nvlinkGroup === undefined ? {} : { nvlinkGroup }),
      };
      return [index, place];
    }),
  );
}

function gpuIndex(cell: string): number | null {
  const found = /^GPU(\d{1,4})$/.exec(cell);
  return found === null ? null : Number(found[1]);
}

/** Puts two GPUs, and all GPUs connected with them, into the group of the lowest. */
function join(group: Map<number, number>, one: number, other: number): void {
  const first = group.get(one) ?? one;
  const second = group.get(other) ?? other;
  group.set(one, first);
  group.set(other, second);
  const lowest = Math.min(first, second);
  for (const [index, of] of group) if (of === first || of === second) group.set(index, lowest);
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function storable(text: string): string {
  return storableText(text, limits.deviceLineCharsMax);
}
