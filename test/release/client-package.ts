/**
 * Tests the package @trainyard/client as its users have it: installed by npm into an empty project, with the programs
 * of its README, compiled strictly and run by the oldest Node.js that it supports against a cluster.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { clusterStatus } from "@trainyard/local-cluster";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalog } from "../../scripts/lib/release/packages.ts";
import { root } from "../../scripts/lib/root.ts";
import { World } from "../world/world.ts";
import { built, version } from "./built.ts";

const call = promisify(execFile);
const oldestNode = "22.0.0";
const programs = ["list.ts", "submit.ts", "watch.ts"];
const ofGrpcPage = ["@grpc/grpc-js", "@grpc/proto-loader", "google-proto-files"];
const inBrowser = `
import { ApiError, Client } from "@trainyard/client";
declare const settings: { readonly url: string; readonly token: string };
const client = new Client(settings);
const { items } = await client.call("listAgents", {});
console.log(items.length, new ApiError({ status: 404, code: "gone", detail: "", title: "", type: "" } as never).problem.code);
`;

let project: string;
let world: World;
let grpcAddress: string;
/** The compiler's messages about the programs, which it writes as JavaScript. */
let problems: { readonly node: string; readonly browser: string };

beforeAll(async () => {
  project = join(built.folder, "project");
  mkdirSync(project);
  await npm("init", "-y");
  await npm("pkg", "set", "type=module");
  const { typescript } = catalog();
  const tarballs = ["client", "contracts", "kernel"].map((name) =>
    join(built.out, `trainyard-${name}-${version}.tgz`),
  );
  const others = [`typescript@${typescript}`, "@types/node@22", `${nodePackage}@${oldestNode}`];
  await npm("install", "--no-audit", "--no-fund", ...tarballs, ...others, ...ofGrpcPage);
  for (const [name, text] of programsOf(readFileSync(installed("README.md"), "utf8")))
    write(name, text);
  const [, ofPage = ""] =
    /^```js\n(.*?)^```$/ms.exec(readFileSync(join(root, "docs/integrate/grpc.md"), "utf8")) ?? [];
  write("grpc.js", ofPage);
  symlinkSync(join(root, "proto"), join(project, "proto"));
  write("browser.ts", inBrowser);
  write(
    "experiment.yaml",
    "name: nightly\nentrypoint: python3 train.py\nsearcher: { name: single, metric: loss }\n",
  );
  problems = {
    node: await compiles(programs, "es2023", "node"),
    browser: await compiles(["browser.ts"], "es2023,dom,dom.iterable", ""),
  };
  world = await World.start({ agents: 1, slots: 1 });
  grpcAddress = (await clusterStatus(world.home))?.grpc ?? "";
  const code = world.code("steps");
  execFileSync("tar", ["-czf", join(project, "code.tar.gz"), "-C", join(world.folder, code), "."]);
}, 300_000);

afterAll(() => world?.[Symbol.asyncDispose]());

const nodePackage = `node-linux-${process.arch}`;
const installed = (file: string): string =>
  join(project, "node_modules", "@trainyard", "client", file);
const write = (name: string, text: string): void => writeFileSync(join(project, name), text);
const npm = (...args: readonly string[]) => call("npm", args, { cwd: project });

/** The programs of a page: code blocks that name their file. */
function programsOf(page: string): readonly (readonly [string, string])[] {
  return [...page.matchAll(/^```ts (\S+)\n(.*?)^```$/gms)].map(([, name = "", text = ""]) => [
    name,
    text,
  ]);
}

/** Compiles programs without skipping the declarations of packages. */
async function compiles(files: readonly string[], lib: string, types: string): Promise<string> {
  const options = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--module",
    "nodenext",
  ];
  const tsc = join(project, "node_modules", ".bin", "tsc");
  const all = [
    ...options,
    "--target",
    "es2022",
    "--skipLibCheck",
    "false",
    "--lib",
    lib,
    "--types",
    types,
    ...files,
  ];
  const { stdout } = await call(tsc, all, { cwd: project }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  return stdout;
}

/** Starts a compiled program with the oldest Node.js. */
function start(...args: readonly string[]) {
  const { api, token } = world.access;
  const node = join(project, "node_modules", nodePackage, "bin", "node");
  return spawn(node, args, {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
    env: { TRAINYARD_URL: api, TRAINYARD_TOKEN: token, HOST: grpcAddress },
  });
}

/** Runs a compiled program to its end, and returns the lines that it printed. */
async function linesOf(...args: readonly string[]): Promise<readonly string[]> {
  const child = start(...args);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(0);
  return lines;
}

describe("the client's package", () => {
  it("compiles strictly, in Node.js and in a browser, with the programs of its README", () => {
    expect(programs.filter((name) => !existsSync(join(project, name)))).toEqual([]);
    expect(problems).toEqual({ node: "", browser: "" });
  });

  it("submits, watches, and resumes where an earlier process was killed", async () => {
    const [experiment = ""] = await linesOf("submit.js");
    // The key of the README's program gives one experiment.
    expect(await linesOf("submit.js")).toEqual([experiment]);
    expect((await linesOf("list.js")).join("\n")).toContain(`${experiment} nightly`);

    const killed = start("watch.js", experiment);
    const exit = once(killed, "exit");
    const seen: string[] = [];
    for await (const line of createInterface(killed.stdout)) {
      seen.push(line);
      if (existsSync(join(project, "place"))) killed.kill("SIGKILL");
    }
    await exit;
    seen.push(...(await linesOf("watch.js", experiment)));
    const positions = seen.map((line) => Number(line.split(" ")[0]));
    expect(positions.length).toBeGreaterThan(5);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    const listed = await world.client.call("listEvents", { pageSize: 1000 });
    const own = listed.items.filter(({ subject }) =>
      new RegExp(`^(experiment|search|trial|run|allocation)-${experiment}\\b`).test(subject),
    );
    // A place is stored after its line is printed, so a line may come again after the kill, but none is missing.
    for (const { sequence } of own) expect(positions).toContain(Number(sequence));
    expect(seen.at(-1)).toContain("ExperimentEnded");
  });

  it("is not needed over gRPC: the program of the page lists and follows without it", async () => {
    const lines = await linesOf("grpc.js");
    expect(lines.some((line) => line.includes(" nightly "))).toBe(true);
    expect(lines.some((line) => line.includes("ExperimentEnded"))).toBe(true);
  });

  it("is bundled for a browser without a module of Node.js", async () => {
    const bundle = await rolldown({
      input: join(project, "browser.js"),
      platform: "browser",
      logLevel: "silent",
    });
    const { output } = await bundle.generate({ format: "esm" });
    await bundle.close();
    const { api: url, token } = world.access;
    expect(output[0].imports).toEqual([]);
    expect(output[0].code).not.toContain("node:");
    write("bundle.js", `const settings = ${JSON.stringify({ url, token })};\n${output[0].code}`);
    expect(await linesOf("bundle.js")).toEqual(["1 gone"]);
  });
});
