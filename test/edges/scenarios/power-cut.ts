/**
 * The host loses its power just after a checkpoint was completed: each write of the run's folder that nobody has
 * flushed is gone, and removals have come back. The states are put on the disk while the cluster is down.
 */
import { existsSync, globSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually } from "../../world/eventually.ts";
import { bystander, endOf, type Scenario } from "./scenario.ts";

const lines = 500;
const code = `
import trainyard
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_text("trained")
for number in range(${lines}):
    print("line", number)
`;

export const powerCut: Scenario = {
  name: "a host that loses its power after a checkpoint was completed",
  run: async (world) => {
    world.write("code-cut/train.py", code);
    const config =
      "name: cut\nentrypoint: python3 train.py\nsearcher: { name: single, metric: loss }\n";
    const id = await world.submit(config, "code-cut");
    const state = await endOf(world, id);
    if (state !== "COMPLETED") return [`its experiment is ${state}`];
    const complete = async (): Promise<string | undefined> => {
      const { items } = await world.client.call("listCheckpoints", { trial: `${id}.1` });
      return items.find((one) => one.state === "COMPLETED")?.uuid;
    };
    await eventually("its checkpoint is complete", async () => (await complete()) !== undefined);
    const checkpoint = (await complete()) ?? "";
    await eventually("its lines are there", async () =>
      (await world.logs(`${id}.1`)).includes(`line ${lines - 1}`),
    );
    await world.down();
    const record = globSync(`**/runs/*/run/spool/stored/${checkpoint}.json`, { cwd: world.home });
    const [stored] = record;
    if (stored === undefined) return ["no run's folder has the record of the checkpoint"];
    const spool = dirname(dirname(join(world.home, stored)));
    const begun = join(spool, "checkpoints", `${checkpoint}.begun`);
    writeFileSync(begun, "");
    rmSync(join(world.home, stored));
    const run = dirname(dirname(spool));
    for (const name of ["delivered.json", "forgotten.json"])
      rmSync(join(run, name), { force: true });
    for (const output of globSync(join(run, "output", "*.ndjson"))) {
      truncateSync(output, Math.floor(statSync(output).size / 2));
    }
    await world.up();
    const found: string[] = [];
    await eventually(
      "the agent has decided about the folder",
      async () => !existsSync(begun),
    ).catch(() => found.push("the agent decides nothing about a folder without a record"));
    const model = join(world.home, "checkpoints", checkpoint, "model");
    if (!existsSync(model)) found.push("the files of a complete checkpoint are gone");
    if ((await complete()) !== checkpoint) found.push("the checkpoint is not complete any more");
    if (!(await world.logs(`${id}.1`)).includes(`line ${lines - 1}`)) found.push("lines are gone");
    return [...found, ...(await bystander(world))];
  },
};
