/** An archive of a few megabytes that unpacks to gigabytes is refused at once, and no other request waits for it. */
import { readFileSync } from "node:fs";
import { createGzip } from "node:zlib";
import { ApiError } from "@trainyard/client";
import { bystander, died, pidsOf, type Scenario } from "./scenario.ts";

const unpackedBytes = 3 * 1024 * 1024 * 1024;
const growthMax = 300 * 1024 * 1024;
const answerMaxMs = 2_000;

/** A packed tar with one file of zeros. */
async function bomb(): Promise<Uint8Array> {
  const header = Buffer.alloc(512);
  header.write("train.py", 0);
  header.write("0000644\0", 100);
  header.write(`${unpackedBytes.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const zip = createGzip({ level: 9 });
  const packed: Buffer[] = [];
  const done = (async () => {
    for await (const piece of zip) packed.push(piece as Buffer);
  })();
  zip.write(header);
  const zeros = Buffer.alloc(16 * 1024 * 1024);
  for (let at = 0; at < unpackedBytes; at += zeros.length) {
    if (!zip.write(zeros)) await new Promise((resolve) => zip.once("drain", resolve));
  }
  zip.end();
  await done;
  return Buffer.concat(packed);
}

function memoryOf(pid: number): number {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(peak) * 1024;
}

export const packedBomb: Scenario = {
  name: "an archive that unpacks to 3 GiB",
  run: async (world) => {
    const before = await pidsOf(world);
    const gateway = await world.pidOf("gateway");
    const context = await bomb();
    const memoryBefore = memoryOf(gateway);
    const config = "name: bomb\nentrypoint: true\nsearcher: { name: single, metric: loss }\n";
    const found: string[] = [];
    let over = false;
    const submitted = world.client
      .call("createExperiment", { config, context })
      .then(() => found.push("it was accepted"))
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.problem.status >= 500)
          found.push(`it got ${error}`);
      })
      .finally(() => (over = true));
    while (!over) {
      const startMs = performance.now();
      await world.client.call("getVersion", {});
      const tookMs = performance.now() - startMs;
      if (tookMs > answerMaxMs) found.push(`another request took ${Math.round(tookMs)} ms`);
    }
    await submitted;
    const growth = memoryOf(gateway) - memoryBefore;
    if (growth > growthMax) found.push(`the gateway grew by ${Math.round(growth / 1e6)} MB`);
    return [...found, ...(await bystander(world)), ...(await died(world, before))];
  },
};
