/** Training code replaces its TensorBoard folder by a link: the target's files are not served. */
import { clusterAccess } from "@trainyard/local-cluster";
import { died, endOf, pidsOf, type Scenario } from "./scenario.ts";

const code = (target: string): string => `
import os, shutil, trainyard
with trainyard.init() as ctx:
    path = ctx.train.get_tensorboard_path()
    shutil.rmtree(path.parent, ignore_errors=True)
    os.makedirs(path.parent.parent, exist_ok=True)
    os.symlink(${JSON.stringify(target)}, path.parent)
`;

export const linkedFolder: Scenario = {
  name: "a link in the place of a trial's TensorBoard folder",
  run: async (world) => {
    const before = await pidsOf(world);
    world.write("code-link/train.py", code(`${world.home}/run`));
    const config =
      "name: link\nentrypoint: python3 train.py\nsearcher: { name: single, metric: loss }\n";
    const id = await world.submit(config, "code-link");
    await endOf(world, id);
    const access = clusterAccess(world.home);
    const headers = { authorization: `Bearer ${access?.token}` };
    const url = `${access?.api}/api/v1/trials/${id}.1/tensorboard`;
    const text = Buffer.from(await (await fetch(url, { headers })).arrayBuffer()).toString(
      "latin1",
    );
    const served = /TRAINYARD_\w+=|environment\//.test(text);
    const found = served ? ["the download holds files of another folder"] : [];
    return [...found, ...(await died(world, before))];
  },
};
