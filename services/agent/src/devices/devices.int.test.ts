/** The contract of every adapter of the port, with a script in place of its program. */
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, describe, expect, test } from "vitest";
import { removeFolders } from "../testing/examples.ts";
import { FakePrograms } from "../testing/fake-program.ts";
import type { Devices } from "./devices.ts";
import { NvidiaDevices } from "./nvidia-devices.ts";
import { VendorProgram } from "./vendor-program.ts";
import { RocmDevices } from "./rocm-devices.ts";

afterAll(removeFolders);

const uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
const signal = new AbortController().signal;
const cards = {
  card0: {
    "Unique ID": "0x719d230578348e8c",
    "Card Series": "MI250X",
    "VRAM Total Memory (B)": "9",
  },
};

const adapters = [
  {
    name: "nvidia-smi",
    adapter: (smi: VendorProgram): Devices => new NvidiaDevices(smi),
    play: (programs: FakePrograms) => programs.writeNvidiaSmi([{ uuid }]),
    device: "cuda",
    id: uuid,
  },
  {
    name: "rocm-smi",
    adapter: (smi: VendorProgram): Devices => new RocmDevices(smi),
    play: (programs: FakePrograms) => programs.write("rocm-smi", `echo '${JSON.stringify(cards)}'`),
    device: "rocm",
    id: "GPU-719d230578348e8c",
  },
];

describe.each(adapters)("$name", ({ name, adapter, play, device, id }) => {
  function open(script: string | null, limitMs = 10_000) {
    const programs = new FakePrograms();
    if (script !== null) programs.write(name, script);
    const { folder, variables } = programs;
    // A missing program is tested with a PATH that has none of this host's programs.
    const inherited = script === null ? { ...variables, PATH: folder } : variables;
    const devices = adapter(new VendorProgram(name, { clock: systemClock, inherited, limitMs }));
    return { programs, devices };
  }

  test("lists its devices, with the same slots at every look", async () => {
    const { programs, devices } = open("exit 1");
    play(programs);
    const look = await devices.look(signal);
    expect(look).toMatchObject({
      kind: "seen",
      devices: [{ index: 0, problem: null, slot: { id, device, uuid: id } }],
      problems: [],
    });
    expect(await devices.look(signal)).toEqual(look);
  });

  test("counts as absent when its program is missing", async () => {
    expect(await open(null).devices.look(signal)).toEqual({ kind: "absent" });
  });

  test("reports a failure with the program's message", async () => {
    const { devices } = open("echo 'cannot talk to the driver' >&2; exit 9");
    expect(await devices.look(signal)).toEqual({
      kind: "failed",
      problem: `${name} exited with code 9: cannot talk to the driver`,
    });
    expect(await open("kill -SEGV $$").devices.look(signal)).toEqual({
      kind: "failed",
      problem: `${name} was ended by SIGSEGV`,
    });
  });

  test("reports a failure when the program exceeds its time limit, and ends all processes of the program", async () => {
    const { devices } = open("echo 0; sleep 1000 & sleep 1000; echo never", 300);
    expect(await devices.look(signal)).toEqual({
      kind: "failed",
      problem: `${name} gave no answer within 0.3 s`,
    });
    const stopping = new AbortController();
    const { devices: others } = open("sleep 1000");
    const look = others.look(stopping.signal);
    stopping.abort();
    expect(await look).toEqual({ kind: "failed", problem: `${name} was stopped with the agent` });
  });

  test("reports a failure with the first line of an output that cannot be parsed", async () => {
    expect(await open("echo; echo 'a riddle'; echo 2").devices.look(signal)).toEqual({
      kind: "failed",
      problem: `${name} printed what is not understood: a riddle`,
    });
    const { devices } = open("head -c 3000000 /dev/zero | tr '\\0' x");
    expect(await devices.look(signal)).toEqual({
      kind: "failed",
      problem: `${name} printed what is not understood: ${"x".repeat(200)}`,
    });
  });
});

test("a GPU whose driver asks for a reset is broken, and the GPU beside it is not", async () => {
  const programs = new FakePrograms();
  programs.writeNvidiaSmi([{ uuid: "GPU-aaaaaaaa" }, { uuid: "GPU-bbbbbbbb", action: "Reset" }]);
  const smi = new VendorProgram("nvidia-smi", {
    clock: systemClock,
    inherited: programs.variables,
  });
  const look = await new NvidiaDevices(smi).look(signal);
  expect(look).toMatchObject({
    devices: [
      { problem: null, slot: { numaNode: 1, nvlinkGroup: 0, memoryBytes: 81_920 * 1024 * 1024 } },
      { problem: "the driver asks for a recovery action: Reset", slot: { nvlinkGroup: 0 } },
    ],
  });
});

test("an nvidia-smi without recovery actions and topology matrix still lists its GPUs", async () => {
  const programs = new FakePrograms();
  programs.write(
    "nvidia-smi",
    `case "$*" in --query-gpu=index,*) echo "0, ${uuid}, Tesla K80, 11441";;
     *) echo "is not a valid field to query."; exit 2;; esac`,
  );
  const smi = new VendorProgram("nvidia-smi", {
    clock: systemClock,
    inherited: programs.variables,
  });
  expect(await new NvidiaDevices(smi).look(signal)).toEqual({
    kind: "seen",
    devices: [
      {
        index: 0,
        problem: null,
        slot: {
          id: uuid,
          device: "cuda",
          uuid,
          memoryBytes: 11_441 * 1024 ** 2,
          name: "Tesla K80",
        },
      },
    ],
    processes: [],
    problems: [
      "nvidia-smi exited with code 2: is not a valid field to query.: NUMA nodes and NVLink groups of the GPUs are not known",
    ],
  });
});
