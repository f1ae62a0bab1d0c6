/** The database is restored to an earlier copy while other parts keep positions of the newer log. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { World } from "../world/world.ts";
import { bystander, endOf, submitCommand } from "./scenarios/scenario.ts";

/**
 * Returns a sentence for each violation; none if the cluster detects and reports the restore, and works again without
 * manual edits.
 */
export async function restoredLog(log: (line: string) => void): Promise<readonly string[]> {
  await using world = await World.start({ processes: true, slots: 2 });
  const kept = await submitCommand(world, "kept", "true");
  await endOf(world, kept);
  // The agents see some scheduler terms that are not in the copy.
  await world.down();
  const data = dataFolder(world);
  const copy = join(world.folder, "copy-of-the-database");
  execFileSync("cp", ["-a", data, copy]);
  await world.up();
  for (let time = 0; time < 3; time += 1) {
    const pid = await world.kill("scheduler");
    await world.untilUp("scheduler", pid);
  }
  const lost = await submitCommand(world, "lost", "true");
  await endOf(world, lost);
  const anchor = await world.yard("log", "anchor");
  world.write("anchor.json", anchor.out);
  await world.down();
  log("the database is put back to its copy");
  execFileSync("rm", ["-rf", data]);
  execFileSync("cp", ["-a", copy, data]);
  await world.up();
  const found = [...(await bystander(world))];
  const { items } = await world.client.call("listExperiments", { pageSize: 100 });
  const names = items.map(({ name }) => name);
  if (!names.includes("kept")) found.push("an experiment from before the copy is not listed");
  if (names.includes("lost")) found.push("an experiment from after the copy is listed");
  const verified = await world.yard("log", "verify");
  if (verified.code !== 0) found.push(`log verify: ${verified.out}${verified.err}`);
  const anchored = await world.yard("log", "verify", "--anchor", "anchor.json");
  if (anchored.code === 0) found.push("log verify --anchor does not notice the missing tail");
  found.push(...(await heldDeletions(world)));
  const logs = (await world.processes()).map((one) => readFileSync(one.log, "utf8")).join("\n");
  for (const what of ["rewound", "epoch"]) {
    if (!logs.includes(what)) found.push(`no log of a process says "${what}"`);
  }
  return found;
}

export function dataFolder(world: World): string {
  const place = join(world.home, "postgres.json");
  if (!existsSync(place)) return join(world.home, "postgres");
  return (JSON.parse(readFileSync(place, "utf8")) as { readonly folder: string }).folder;
}

/** Checks that the restored cluster holds deletions until a person releases them. */
async function heldDeletions(world: World): Promise<readonly string[]> {
  const found: string[] = [];
  const listed = await world.yard("storage", "list");
  if (!listed.err.includes("deletions are held")) found.push("storage list shows no hold");
  const doctor = await world.yard("cluster", "doctor");
  if (!doctor.out.includes("deletions are held")) found.push("the doctor shows no hold");
  const released = await world.yard("storage", "release", "--yes", "--reason", "compared");
  if (released.code !== 0) found.push(`storage release: ${released.out}${released.err}`);
  const again = await world.yard("storage", "list");
  if (again.err.includes("deletions are held")) found.push("a release ends no hold");
  return found;
}
