/** The start of the commands `yard` and `trainyard`, beyond the start of the interpreter that each runs on. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";

const yardBar = { id: "yard_start_extra_ms", unit: "ms", floor: null, goal: null };
const trainyardBar = { id: "trainyard_start_extra_ms", unit: "ms", floor: null, goal: null };

/** The text of the program that pip installs. */
const program = "import sys; from trainyard._command import main; sys.exit(main())";
const refused = ["experiment", "no-such-verb"];

export async function startResults(context: BenchContext): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 15, full: 60 }[context.size];
  const yard = join(checkout, "bin", "yard");
  const [node, yardVersion, yardRefused, python, version, trainyardRefused] = await interleave(
    [
      contender("node", 0, process.execPath, "-e", "0"),
      contender("yard --version", 0, yard, "--version"),
      contender("yard, refused", 2, yard, ...refused),
      contender("python3", 0, "python3", "-c", "0"),
      contender("trainyard --version", 0, "python3", "-c", program, "--version"),
      contender("trainyard, refused", 2, "python3", "-c", program, ...refused),
    ],
    rounds,
    context,
  );
  const note = (bare: number, refusal: number): string =>
    `--version, aim: under 300; a refused command ${(refusal - bare).toFixed(0)}; the bare interpreter ${bare.toFixed(0)}`;
  return [
    costResult(yardBar, yardVersion - node, null, note(node, yardRefused)),
    costResult(trainyardBar, version - python, null, note(python, trainyardRefused)),
  ];
}

function contender(name: string, code: number, command: string, ...args: readonly string[]) {
  const env = { ...process.env, PYTHONPATH: join(checkout, "libs", "sdk-python", "src") };
  const round = async (): Promise<number> => {
    const start = performance.now();
    const { status, stderr } = spawnSync(command, args, { env, encoding: "utf8" });
    const took = performance.now() - start;
    if (status !== code) throw new Error(`${name} ended with ${String(status)}: ${stderr}`);
    return took;
  };
  return { name, round };
}
