import { describe, expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const config = (end: string): string => `
name: together
entrypoint: python3 -m trainyard.launch.torch train.py
searcher: { name: single, metric: loss }
hyperparameters: { end: ${end} }
resources: { slots_per_trial: 4 }
max_restarts: 0
`;

async function logsOf(id: string): Promise<string> {
  return await world.logs(`${id}.1`);
}

describe("four ranks on two agents", () => {
  test.each([
    ["raise", /rank 3: ValueError: the last rank's own \(train\.py, line 24\)\n {4,}Traceback/],
    ["kill", /rank 3: was ended by SIGKILL/],
  ])("that end because one does (%s) say which, first", async (end, said) => {
    const id = await world.submit(config(end), world.code("together"));
    expect(await world.end(id)).toBe("ERROR");
    const described = (await world.yard("trial", "describe", `${id}.1`)).out;
    expect(described.replaceAll("\n\n", "\n")).toMatch(said);
    const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
    expect(runs[0]?.message).toMatch(/^rank 3: /);
    expect(await logsOf(id)).toMatch(/^\[rank=3\] under way$/m);
    const { out } = await world.yard("trial", "logs", `${id}.1`, "--rank", "3");
    expect(out.split("\n")).toContain("[rank=3] under way");
    expect(
      out
        .trimEnd()
        .split("\n")
        .every((line) => line.startsWith("[rank=3] ")),
    ).toBe(true);
  });

  test("stop at the same batch, and each continues from its shard", async () => {
    const id = await world.submit(config("stop"), world.code("together"));
    await eventually("all are under way", async () => {
      return (await logsOf(id)).split("under way").length === 5;
    });
    await world.client.call("pauseExperiment", { experiment: id });
    await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
    const stops = [...(await logsOf(id)).matchAll(/\[rank=(\d)\] stops at (\d+)/g)];
    expect(stops.map(([, rank]) => rank).toSorted()).toEqual(["0", "1", "2", "3"]);
    expect(new Set(stops.map(([, , batch]) => batch)).size).toBe(1);
    await world.client.call("activateExperiment", { experiment: id });
    expect(await world.end(id)).toBe("COMPLETED");
    const from = [...(await logsOf(id)).matchAll(/continues from (\d+)/g)].map(
      ([, batch]) => batch,
    );
    expect(from).toEqual(stops.map(([, , batch]) => batch));
  });
});
