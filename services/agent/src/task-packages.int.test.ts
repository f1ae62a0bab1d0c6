/** Packages that pip installs in a task that keeps its work: in its folder, on top of its Python, and saved. */
import { spawnSync } from "node:child_process";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { AgentStage } from "./testing/agent-stage.ts";
import { configured, removeFolders, taskOf } from "./testing/examples.ts";
import { ownVariables } from "./testing/agent-config.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });

beforeEach(({ skip }) => {
  const pip = spawnSync("python3", ["-m", "pip", "--version"], { env: ownVariables() });
  if (pip.status !== 0) notRun(skip, "pip");
});

/** A Python program that makes a wheel with the module `brought` and the program `brought-tool`. */
const wheel = `import zipfile
about = {"METADATA": "Metadata-Version: 2.1\\nName: brought\\nVersion: 1\\n",
  "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
  "entry_points.txt": "[console_scripts]\\nbrought-tool = brought:tool\\n", "RECORD": ""}
with zipfile.ZipFile("brought-1-py3-none-any.whl", "w") as archive:
    archive.writestr("brought.py", "def tool():\\n    print('from', __file__.split('/kept/')[1])\\n")
    for name, text in about.items():
        archive.writestr("brought-1.dist-info/" + name, text)
`;

test("packages that pip installs in a task come first, leave its Python as it is, and are back in its next run", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const script = [
    `python3 -c "$WHEEL"`,
    `python3 -m pip install --quiet --no-index --disable-pip-version-check ./brought-*.whl`,
    "brought-tool",
    // The Python below, which knows nothing of the task's folder.
    `below=$(python3 -c 'import sys; print(sys.base_prefix)')`,
    `env -i "$below/bin/python3" -c 'import brought' 2>&1 | tail -1`,
    `"$below/bin/python3" -m pip list --disable-pip-version-check | grep brought`,
  ].join(" && ");
  const launch = taskOf("command", script, {
    ...configured({ keep_work: true }),
    environmentVariables: [`WHEEL=${wheel}`],
  });
  platform.run(launch);
  const ended = await platform.ended(launch);
  const place = /^from \.packages\/lib\/python3\.\d+\/site-packages\/brought\.py$/;
  expect([platform.texts(launch), ended.exit?.code]).toEqual([
    [
      expect.stringMatching(place),
      "ModuleNotFoundError: No module named 'brought'",
      expect.stringMatching(/^brought +1$/),
    ],
    0,
  ]);
  const [latestCheckpoint = ""] = platform.checkpoints.keys();
  const entrypoint = {
    case: "shell",
    value: "brought-tool; python -c 'import brought'",
  } as const;
  const allocation = `${launch.task?.id}#2`;
  const next = { ...launch, run: 2, allocation, entrypoint, latestCheckpoint };
  platform.run(next);
  const again = await platform.ended(next);
  expect([platform.texts(next).at(-1), again.exit?.code]).toEqual([
    expect.stringMatching(place),
    0,
  ]);
});
