/** The image for training, built without a registry. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import { Podman, podmanProblem, testImage } from "@trainyard/service-agent/testing/podman";
import { notRun } from "@trainyard/testing/needs";
import { expect, test } from "vitest";

test("deploy/images/training builds on an existing image, and contains the SDK", async ({
  skip,
}) => {
  const noBuildah = spawnSync("sh", ["-c", "command -v buildah"]).status === 0 ? null : "buildah";
  const problem = podmanProblem() ?? noBuildah;
  if (problem !== null) notRun(skip, problem);
  await using podman = await Podman.start();
  const name = "localhost/training-test:1";
  execFileSync(join(checkout, "deploy/images/training/build"), [name], {
    env: { ...podman.forBuilds, TRAINYARD_BASE_IMAGE: testImage },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const script = "import trainyard; print(trainyard.__file__)";
  const said = podman.run("run", "--rm", "--network=host", name, "python3", "-c", script);
  expect(said.trim()).toBe("/opt/trainyard/trainyard/__init__.py");
});
