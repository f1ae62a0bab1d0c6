/** Two people share a cluster that had no users: they sign in, and a role decides whether one sees the other's work. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@trainyard/client";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";
import { clientOf, machineOf, signIn, tokenOf, yard } from "./people.ts";

const config = `
name: hidden
entrypoint: python3 train.py
workspace: teams
searcher: { name: single, metric: loss }
`;

/** Signs in as a notebook without a browser does. */
async function signInFromPython(person: string, password: string): Promise<string> {
  const script = `
import sys
from trainyard import client
client.login(sys.argv[1], user=sys.argv[2], password=sys.argv[3])
print(client.whoami().user)
`;
  const args = ["-c", script, world.api, person, password];
  const { stdout } = await promisify(execFile)("python3", args, {
    cwd: world.folder,
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      ...machineOf(person),
    },
  });
  return stdout;
}

test("two people share a cluster that had no users, and a role lets one see the other's experiment", async () => {
  const ada = await world.yard("user", "create", "ada");
  expect(ada.err).toContain("ada is the first user and a cluster admin");
  expect(await signIn("ada", ada.out.trim())).toContain(" as ada\n");
  const bo = await clientOf("ada").call("createUser", { name: "bo" });
  expect(await signInFromPython("bo", bo.password)).toBe("bo\n");

  await clientOf("ada").call("createWorkspace", { name: "teams" });
  const { experiment } = await clientOf("ada").call("createExperiment", { config, paused: true });
  const id = experiment?.id ?? "";
  expect(await yard("bo", "e", "describe", id)).toMatchObject({ code: 2, out: "" });

  const given = await yard("ada", "role", "give", "viewer", "--user", "bo", "--workspace", "teams");
  expect(given).toMatchObject({ code: 0, out: "bo is viewer in teams\n" });
  await eventually("bo sees the experiment", async () => {
    const seen = await clientOf("bo").call("getExperiment", { experiment: id });
    return seen.name === "hidden";
  });
  const killed = await yard("bo", "e", "kill", id);
  expect(killed.code).toBe(2);
  expect(killed.err).toContain("experiment_control");

  const token = tokenOf("ada");
  expect(await yard("ada", "logout")).toMatchObject({ code: 0 });
  const ended = new Client({ url: world.api, token }).call("getMe", {});
  await expect(ended).rejects.toMatchObject({ problem: { status: 401 } });
  expect((await world.yard("whoami")).out).toMatch(/^user +local$/m);
});
