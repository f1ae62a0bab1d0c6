/** The images of services: their size, the time to build them, and the start of a container beside that on the host. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { services } from "@trainyard/kernel/services";
import type { Podman } from "@trainyard/service-agent/testing/podman";
import { base, build, imageOf, imagesProblem, startPodman } from "../../images/built.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { Starts } from "./starts.ts";

const sizeBar = { id: "mb_over_base", unit: "MB", floor: null, goal: null };
const readyBar = { id: "ready_vs_host", unit: "ms", floor: 0.6, goal: 0.8 };
const buildBar = { id: "build_s", unit: "s", floor: null, goal: null };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const problem = imagesProblem();
  if (problem !== null) {
    context.say(`images can be neither built nor started here: ${problem}`);
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-images-"));
  try {
    await using podman = await startPodman();
    // Only what is started, at the smallest size and for its figure alone.
    const isFew = context.size === "tiny" || !context.wants("mb_over_base", "build_s");
    const names = isFew ? [Starts.service, "migrate"] : [];
    const seconds = async (): Promise<number> => {
      const start = performance.now();
      await build(podman, folder, ...names);
      return (performance.now() - start) / 1_000;
    };
    const cold = await seconds();
    const warm = await seconds();
    context.say(`  built in ${cold.toFixed(1)} s, and again in ${warm.toFixed(1)} s`);
    const note = `aim: 60, all images; without a cache ${cold.toFixed(1)}`;
    return [
      sizes(podman, names),
      await ready(podman, context),
      costResult(buildBar, warm, null, note),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sizes(podman: Podman, names: readonly string[]): BenchResult {
  const megabytes = (image: string): number =>
    Number(podman.run("image", "inspect", "--format={{.Size}}", image)) / 1e6;
  const under = megabytes(base);
  const found = services
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ name }) => ({ name, over: megabytes(imageOf(name)) - under }))
    .toSorted((a, b) => b.over - a.over);
  const list = found.map(({ name, over }) => `${name} ${over.toFixed(0)}`).join(", ");
  return costResult(sizeBar, found[0]?.over ?? 0, null, `the largest; aim: 200 each; ${list}`);
}

async function ready(podman: Podman, context: BenchContext): Promise<BenchResult> {
  const rounds = { tiny: 1, short: 5, full: 15 }[context.size];
  await using starts = await Starts.open(podman);
  const [host, container, compiled] = await interleave(
    [
      { name: "on the host", round: () => starts.onHost() },
      { name: "a container", round: () => starts.asContainer() },
      { name: "the checkout's program", round: () => starts.compiled() },
    ],
    rounds,
    context,
  );
  const note = `${Starts.service}; as one compiled file on the host: ${compiled.toFixed(0)} ms`;
  return costResult(readyBar, container, host, note);
}
