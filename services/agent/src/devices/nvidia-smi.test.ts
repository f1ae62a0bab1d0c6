/**
 * The texts have the form that NVIDIA documents: the manual page "nvidia-smi - NVIDIA System Management Interface
 * program" for --query-gpu with csv, noheader, nounits (memory in MiB, values in brackets that are not available), for
 * topo -m and its legend, and for the list without devices; "Error Recovery and Response Flags" for the recovery
 * actions. The lines about a lost GPU are as people report them to NVIDIA's projects open-gpu-kernel-modules and
 * dcgm-exporter.
 */
import { describe, expect, test } from "vitest";
import { parseGpus, parseProcesses, parseRecovery, parseTopology } from "./nvidia-smi.ts";

const first = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
const second = "GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2";
const mebibyte = 1024 * 1024;

describe("the list of GPUs", () => {
  test("has number, UUID, name and memory of each", () => {
    const text = `0, ${first}, NVIDIA A100-SXM4-80GB, 81920\n1, ${second}, NVIDIA A100-SXM4-80GB, 81920\n`;
    const name = "NVIDIA A100-SXM4-80GB";
    const memoryBytes = 81_920 * mebibyte;
    expect(parseGpus(text)).toEqual({
      gpus: [
        { index: 0, uuid: first, name, memoryBytes, problem: null },
        { index: 1, uuid: second, name, memoryBytes, problem: null },
      ],
      problems: [],
      isUnderstood: true,
    });
  });

  test("keeps a comma in a name, and reports unavailable memory as unknown", () => {
    const { gpus } = parseGpus(`0, ${first}, Board, of two, [N/A]\r\n`);
    expect(gpus).toMatchObject([{ name: "Board, of two", memoryBytes: 0, problem: null }]);
  });

  test("is empty, and is understood, when nvidia-smi finds no device", () => {
    expect(parseGpus("No devices were found\n")).toEqual({
      gpus: [],
      problems: [],
      isUnderstood: true,
    });
  });

  test.each(["GPU is lost", "GPU requires reset", "Unknown Error"])(
    "marks a GPU with [%s] as broken",
    (state) => {
      const { gpus } = parseGpus(
        `0, ${first}, NVIDIA A100, 81920\n1, ${second}, [${state}], [${state}]\n`,
      );
      expect(gpus.map(({ uuid, problem }) => [uuid, problem])).toEqual([
        [first, null],
        [second, `nvidia-smi reports "${state}"`],
      ]);
    },
  );

  test("leaves out a GPU without an available UUID, and names it as a problem", () => {
    const lost = "Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error";
    const text = `${lost}\n0, ${first}, NVIDIA A100, 81920\n1, [GPU is lost], [GPU is lost], [GPU is lost]\n`;
    const { gpus, problems } = parseGpus(text);
    expect(gpus.map(({ uuid }) => uuid)).toEqual([first]);
    expect(problems).toEqual([lost, "GPU 1: GPU is lost"]);
  });

  test.each(["", "hello\n", "0, 1, 2\n", "<html>", "0, GPU, x, 1\n", "\0\0\0"])(
    "cannot be parsed from %j",
    (text) => {
      expect(parseGpus(text)).toEqual({ gpus: [], problems: [], isUnderstood: false });
    },
  );

  test("names a line beside the GPUs that cannot be parsed", () => {
    const { gpus, problems } = parseGpus(
      `WARNING: infoROM is corrupted\n0, ${first}, A100, 81920\n`,
    );
    expect(gpus).toHaveLength(1);
    expect(problems).toEqual(["a line is not understood: WARNING: infoROM is corrupted"]);
  });
});

test("a recovery action is the one that the driver asks for; None and N/A count as none", () => {
  const text = `${first}, None\n${second}, Reset\nGPU-00000000-aaaa, [N/A]\nnonsense\n`;
  expect([...parseRecovery(text)]).toEqual([[second, "Reset"]]);
  expect(parseRecovery('Field "gpu_recovery_action" is not a valid field to query.').size).toBe(0);
});

test("a process is on the GPU of its line; a process without an available number is none", () => {
  const text = `${first}, 4211\n${second}, 77\n${second}, [N/A]\nNo running processes found\n`;
  expect(parseProcesses(text)).toEqual([
    { uuid: first, pid: 4211 },
    { uuid: second, pid: 77 },
  ]);
});

describe("the topology", () => {
  const legend =
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";

  test("has the NUMA node of each GPU, and groups the GPUs that NVLink connects", () => {
    const matrix = [
      "\t\u001B[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001B[0m",
      "GPU0\t X \tNV12\tSYS\tSYS\tPXB\t0-31\t0\t\tN/A",
      "GPU1\tNV12\t X \tSYS\tSYS\tPXB\t0-31\t0\t\tN/A",
      "GPU2\tSYS\tSYS\t X \tNV12\tSYS\t32-63\t1\t\tN/A",
      "GPU3\tSYS\tSYS\tNV12\t X \tSYS\t32-63\t1\t\tN/A",
      "NIC0\tPXB\tPXB\tSYS\tSYS\t X \t\t\t\t",
    ].join("\n");
    expect([...parseTopology(matrix + legend)]).toEqual([
      [0, { numaNode: 0, nvlinkGroup: 0 }],
      [1, { numaNode: 0, nvlinkGroup: 0 }],
      [2, { numaNode: 1, nvlinkGroup: 2 }],
      [3, { numaNode: 1, nvlinkGroup: 2 }],
    ]);
  });

  test("counts GPUs as connected even when NVLink connects them through other GPUs", () => {
    const matrix = [
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity",
      "GPU0\t X \tSYS\tSYS\tNV1\t0-7\t0",
      "GPU1\tSYS\t X \tNV2\tSYS\t0-7\t0",
      "GPU2\tSYS\tNV2\t X \tNV1\t0-7\t0",
      "GPU3\tNV1\tSYS\tNV1\t X \t0-7\t0",
    ].join("\n");
    const groups = [...parseTopology(matrix).values()].map(({ nvlinkGroup }) => nvlinkGroup);
    expect(groups).toEqual([0, 0, 0, 0]);
  });

  test("leaves out values that are not reported: one GPU, several nodes, no column", () => {
    const one = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-7\t\tN/A\t\tN/A\n";
    expect([...parseTopology(one + legend)]).toEqual([[0, {}]]);
    const range = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t0-1\n";
    expect([...parseTopology(range)]).toEqual([[0, {}]]);
    const older = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n";
    expect([...parseTopology(older)]).toEqual([[0, {}]]);
    for (const text of ["", "Failed to run topology matrix", legend]) {
      expect(parseTopology(text).size).toBe(0);
    }
  });
});
