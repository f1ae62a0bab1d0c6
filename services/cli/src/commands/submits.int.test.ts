import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { playGateway } from "../testing/played-gateway.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-cli-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a submit that the platform cannot take within 15 s ends with the platform's sentence", async () => {
  const config = join(folder, "exp.yaml");
  await writeFile(config, "entrypoint: python train.py\nsearcher: {name: single, metric: loss}\n");
  const detail = "the database does not answer now; try again";
  const body = { status: 503, code: "unavailable", detail };
  await using gateway = await playGateway(() => ({ status: 503, body, retryAfterS: 16 }));
  const submits = [
    ["experiment", "create", config, folder],
    ["experiment", "fork", "12"],
    ["cmd", "run", "--", "python", "-V"],
  ];
  for (const words of submits) {
    const { code, err } = await gateway.yard(...words);
    expect(code).not.toBe(0);
    expect(err).toContain("The database does not answer now; try again");
  }
});
