/** Bad input gets one clear sentence with the path of the offending key, exits with code 2, and changes nothing. */

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { world } from "./cluster.ts";

beforeAll(() => void world.code("steps"));

const good = `
name: good
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
`;

/** The ids of all experiments, the newest first. */
async function head(): Promise<readonly string[]> {
  const { items } = await world.client.call("listExperiments", { pageSize: 500 });
  return items.map(({ id }) => id);
}

const wrongConfigurations: readonly (readonly [string, string, RegExp])[] = [
  ["an unknown key", `${good}frobnicate: 1`, /^frobnicate: /],
  ["a wrong type", `${good}max_restarts: many`, /^max_restarts: /],
  [
    "minval not below maxval",
    `${good}hyperparameters: { lr: { type: double, minval: 2, maxval: 1 } }`,
    /^hyperparameters\.lr/,
  ],
  ["a missing entrypoint", good.replace(/entrypoint.*\n/, ""), /^entrypoint: /],
  ["a missing metric", good.replace(", metric: loss", ""), /^searcher\.metric: /],
  ["an unknown searcher", good.replace("single", "guess"), /^searcher\.name: /],
  [
    "more slots than there ever were",
    `${good}resources: { slots_per_trial: 64 }`,
    /^resources\.slots_per_trial: .*64/,
  ],
  ["a name with a NUL", good.replace("name: good", 'name: "a\\0b"'), /^name: /],
  [
    "a constraint on what there is not",
    good.replace("metric: loss", 'metric: loss, constraints: "lr < 1"'),
    /^searcher\.constraints\[0\]: names lr, which is not a hyperparameter \(column 1/,
  ],
  [
    "an impossible space",
    `${good.replace("metric: loss", 'metric: loss, constraints: ["n > 1", "n < 1"]')}hyperparameters: { n: { type: int, minval: 0, maxval: 3 } }`,
    /^searcher\.constraints: are satisfied by none of \d+ sampled points; "n < 1" refuses most/,
  ],
  [
    "an earlier experiment that is not there",
    good.replace("metric: loss", "metric: loss, warm_start: { experiments: [4711] }"),
    /^searcher\.warm_start\.experiments\[0\]: is 4711, and there is no such experiment/,
  ],
  ["no YAML", "name: [", /^line 1/i],
  ["an empty file", "", /./],
];

describe("a configuration that is wrong", () => {
  test.each(wrongConfigurations)(
    "is refused with one sentence: %s",
    async (_what, config, said) => {
      const before = await head();
      const file = world.write("bad.yaml", config);
      const answer = await world.yard("e", "create", file, "code-steps");
      expect(answer).toMatchObject({ code: 2, out: "" });
      expect(answer.err).toMatch(said);
      expect(answer.err.trim().split("\n")).toHaveLength(1);
      expect(await head()).toEqual(before);
    },
  );

  test("is also found by validate, which creates nothing for a valid one either", async () => {
    const before = await head();
    const right = await world.yard("e", "validate", world.write("good.yaml", good));
    expect(right).toMatchObject({ code: 0, err: "" });
    expect(right.out).toMatch(/is a valid configuration$/m);
    const large = await world.yard(
      "e",
      "validate",
      world.write("good.yaml", good),
      "--config",
      "resources.slots_per_trial=64",
    );
    expect(large).toMatchObject({ code: 2, out: "" });
    expect(large.err).toMatch(/^resources\.slots_per_trial: .*64/);
    expect(await head()).toEqual(before);
  });

  test("names the key of a wrong override", async () => {
    const file = world.write("good.yaml", good);
    const answer = await world.yard(
      "e",
      "create",
      file,
      "code-steps",
      "--config",
      "max_restarts=-1",
    );
    expect(answer.code).toBe(2);
    expect(answer.err).toMatch(/^max_restarts: /);
    const shapeless = await world.yard(
      "e",
      "create",
      file,
      "code-steps",
      "--config",
      "max_restarts",
    );
    expect(shapeless).toMatchObject({ code: 2 });
  });
});

describe("a context that is wrong", () => {
  test("is refused for a folder that does not exist, a file, and a configuration that does not exist", async () => {
    const file = world.write("good.yaml", good);
    for (const args of [
      [file, "no-such-folder"],
      [file, file],
      ["no-such.yaml", "code-steps"],
    ]) {
      const answer = await world.yard("e", "create", ...args);
      expect(answer).toMatchObject({ code: 2, out: "" });
      expect(answer.err).toContain(args.includes("no-such-folder") ? "no-such-folder" : "yaml");
    }
  });

  test("is refused above the limit of 96 MiB packed", async () => {
    const file = world.write("good.yaml", good);
    const folder = join(world.folder, "huge");
    world.write("huge/train.py", "");
    writeFileSync(join(folder, "data.bin"), randomBytes(97 * 1024 * 1024));
    const answer = await world.yard("e", "create", file, "huge");
    expect(answer).toMatchObject({ code: 2, out: "" });
    expect(answer.err).toContain(
      "96 MiB packed. Its largest files are data.bin (97 MiB) and train.py (0 B)",
    );
    world.write("huge/.detignore", "*.bin\n");
    expect(await world.yard("e", "create", file, "huge", "--paused")).toMatchObject({ code: 0 });
  });

  test.each([
    ["bytes that are no archive", Buffer.from("not an archive")],
    ["an archive that is cut off", gzipSync(tarOf("train.py", "print(1)")).subarray(0, 40)],
    ["a path that escapes the archive", gzipSync(tarOf("../../escaped.py", "print(1)"))],
    ["an absolute path", gzipSync(tarOf("/tmp/escaped.py", "print(1)"))],
  ])("%s is refused by the API", async (_what, context) => {
    const before = await head();
    const call = world.client.call("createExperiment", { config: good, context });
    await expect(call).rejects.toMatchObject({ problem: { status: 400, code: "invalid_context" } });
    expect(await head()).toEqual(before);
  });
});

test("wrong usage names the missing or unknown argument, with exit code 2", async () => {
  for (const args of [
    [],
    ["frobnicate"],
    ["e", "create"],
    ["e", "describe"],
    ["e", "ls", "--no-such"],
  ]) {
    expect((await world.yard(...args)).code).toBe(2);
  }
  for (const args of [
    ["e", "describe", "999999"],
    ["trial", "logs", "999999.1"],
    ["checkpoint", "describe", "nothing"],
    ["e", "describe", "../../x"],
  ]) {
    const answer = await world.yard(...args);
    expect(answer).toMatchObject({ code: 2, out: "" });
    expect(answer.err.trim().split("\n")).toHaveLength(1);
  }
});

test("a platform that does not answer gives exit code 1 and one sentence", async () => {
  const away = { TRAINYARD_URL: "http://127.0.0.1:9", TRAINYARD_TOKEN: "ty_0_0" };
  const answer = await world.yardWith(away, "e", "ls");
  expect(answer).toMatchObject({ code: 1, out: "" });
  expect(answer.err).toContain("cannot be reached");
});

/**
 * A tar of one file, written by the definition of its format (POSIX.1-1988 ustar), since our packers refuse such paths.
 */
function tarOf(path: string, text: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(512);
  body.write(text);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}
