/**
 * The texts have the form that AMD documents: "ROCm SMI Python CLI tool usage" and "Python API reference" of
 * rocm_smi_lib for --json and the names of the values, "GPU isolation techniques" of the ROCm documentation for UUIDs.
 */
import { expect, test } from "vitest";
import { parseCards } from "./rocm-smi.ts";

const card = (more: object) => ({
  "Unique ID": "0x719d230578348e8c",
  "VRAM Total Memory (B)": "68702699520",
  "VRAM Total Used Memory (B)": "10960896",
  "(Topology) Numa Node": "3",
  "(Topology) Numa Affinity": "3",
  ...more,
});

test("cards have number, UUID, name, memory and NUMA node, in the order of their numbers", () => {
  const text = JSON.stringify({
    card10: card({ "Card series": "AMD Instinct MI250X", "Unique ID": "0xAC1B58F8C06679" }),
    card2: card({ "Card Series": "AMD Instinct MI210", "(Topology) Numa Node": "-1" }),
    system: { "Driver version": "6.8.5" },
  });
  const memoryBytes = 68_702_699_520;
  expect(parseCards(`WARNING: AMD GPU device(s) is/are in a low-power state.\n${text}\n`)).toEqual([
    { index: 2, uuid: "GPU-719d230578348e8c", name: "AMD Instinct MI210", memoryBytes },
    {
      index: 10,
      uuid: "GPU-00ac1b58f8c06679",
      name: "AMD Instinct MI250X",
      memoryBytes,
      numaNode: 3,
    },
  ]);
});

test("a value that a card does not report is unknown", () => {
  const text = JSON.stringify({
    card0: { "Unique ID": "N/A", "Card Series": "N/A", "Card Model": "0x15d8" },
    card1: null,
  });
  expect(parseCards(text)).toEqual([
    { index: 0, uuid: "", name: "0x15d8", memoryBytes: 0 },
    { index: 1, uuid: "", name: "", memoryBytes: 0 },
  ]);
});

test.each(["", "ERROR: No AMD GPUs", "{", "[1]", "{]", "card0"])(
  "%j is not parsed as a list of cards",
  (text) => {
    expect(parseCards(text)).toBeNull();
  },
);
