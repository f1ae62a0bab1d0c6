/**
 * The output of `rocm-smi --json`: an object with a member `card<n>` for each GPU, whose values are texts, and others
 * such as `system`. Sources: "ROCm SMI Python CLI tool usage" and "Python API reference" of AMD's rocm_smi_lib
 * (options, JSON output), and "GPU isolation techniques" of the ROCm documentation (UUIDs of the form GPU-<unique id>).
 */
import { storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";

export const listParameters = [
  "--showproductname",
  "--showuniqueid",
  "--showmeminfo",
  "vram",
  "--showtoponuma",
  "--json",
];

export type Card = {
  readonly index: number;
  /** Empty if the card reports no unique id. */
  readonly uuid: string;
  readonly name: string;
  readonly memoryBytes: number;
  readonly numaNode?: number;
};

/** The cards, sorted by number; null for a text without such an object. Warnings may surround the object. */
export function parseCards(text: string): readonly Card[] | null {
  const listed = objectIn(text);
  if (listed === null) return null;
  return Object.entries(listed)
    .flatMap(([key, values]) => {
      const index = /^card(\d{1,4})$/.exec(key)?.[1];
      return index === undefined ? [] : [cardOf(Number(index), values)];
    })
    .toSorted((a, b) => a.index - b.index);
}

function objectIn(text: string): object | null {
  const start = text.indexOf("{");
  try {
    const value: unknown = JSON.parse(text.slice(start, text.lastIndexOf("}") + 1));
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Versions of rocm-smi differ in the case of these names. */
function cardOf(index: number, values: unknown): Card {
  const texts = new Map(
    Object.entries(values ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]),
  );
  const names = ["card series", "card model", "device name"].map((name) => texts.get(name) ?? "");
  const name = names.find((one) => one !== "" && one.toLowerCase() !== "n/a") ?? "";
  const memory = texts.get("vram total memory (b)") ?? "";
  const numa = texts.get("(topology) numa node") ?? "";
  return {
    index,
    uuid: uuidOf(texts.get("unique id") ?? ""),
    name: storableText(name, limits.deviceLineCharsMax),
    memoryBytes: /^\d{1,15}$/.test(memory) ? Number(memory) : 0,
    ...(/^\d{1,4}$/.test(numa) ? { numaNode: Number(numa) } : {}),
  };
}

/** Returns the id in the form that ROCR_VISIBLE_DEVICES accepts: 16 hexadecimal digits. */
function uuidOf(uniqueId: string): string {
  const digits = /^0x([0-9a-f]{1,16})$/i.exec(uniqueId)?.[1] ?? "";
  return /^0*$/.test(digits) ? "" : `GPU-${digits.toLowerCase().padStart(16, "0")}`;
}
