/** The tests replace Vite by a program that counts its calls and writes one page. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildWeb, webBuild } from "./build.ts";
import { webDigest } from "./sources.ts";

let checkout: string;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
};

const vite = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const outDir = process.argv[process.argv.indexOf("--outDir") + 1];
appendFileSync("../../calls", "x");
mkdirSync(outDir);
writeFileSync(join(outDir, "index.html"), "a page");
`;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "trainyard-web-"));
  const packaged = { dependencies: { "@trainyard/client": "workspace:*", react: "catalog:" } };
  write("services/web/package.json", JSON.stringify(packaged));
  write("services/web/src/main.tsx", "1");
  write("services/web/node_modules/vite/bin/vite.js", vite);
  write("services/web/node_modules/vite/package.json", '{ "type": "module" }');
  write("libs/client/package.json", '{ "dependencies": { "@trainyard/kernel": "workspace:*" } }');
  write("libs/client/src/index.ts", "1");
  write("libs/kernel/package.json", "{}");
  write("libs/kernel/src/index.ts", "1");
  write("libs/other/src/index.ts", "1");
  write("pnpm-lock.yaml", "1");
});
afterEach(() => rmSync(checkout, { recursive: true }));

function build() {
  const found = webBuild(checkout);
  if (found === null) throw new Error("there are pages");
  return { ...found, made: () => buildWeb(found, join(checkout, "build.log")) };
}

const calls = (): number => readFileSync(join(checkout, "calls"), "utf8").length;

test("pages are built once for each state of their sources, also by concurrent builders", async () => {
  const { folder, made } = build();
  await Promise.all([made(), made()]);
  await made();
  expect(calls()).toBe(1);
  expect(readFileSync(join(folder, "index.html"), "utf8")).toBe("a page");
  write("libs/kernel/src/index.ts", "2");
  const changed = build();
  await changed.made();
  expect(calls()).toBe(2);
  expect(changed.folder).not.toBe(folder);
});

test("pages are built for production, even when NODE_ENV has another value", async () => {
  const program = "services/web/node_modules/vite/bin/vite.js";
  write(program, `${vite}writeFileSync(join(outDir, "mode"), process.env.NODE_ENV ?? "");`);
  const { folder, made } = build();
  await made();
  expect(process.env["NODE_ENV"]).toBe("test");
  expect(readFileSync(join(folder, "mode"), "utf8")).toBe("production");
});

test("the digest of the sources covers the pages and everything that they import", () => {
  const seen = new Set<string | null>([webDigest(checkout)]);
  for (const path of [
    "services/web/src/main.tsx",
    "libs/client/src/index.ts",
    "libs/kernel/src/index.ts",
    "pnpm-lock.yaml",
  ]) {
    write(path, "2");
    seen.add(webDigest(checkout));
  }
  expect(seen.size).toBe(5);
  for (const path of [
    "libs/other/src/index.ts",
    "services/web/src/main.test.tsx",
    "services/web/dist/index.html",
    "services/web/node_modules/react/index.js",
  ]) {
    write(path, "2");
    seen.add(webDigest(checkout));
  }
  expect(seen.size).toBe(5);
  rmSync(join(checkout, "services/web"), { recursive: true });
  expect(webBuild(checkout)).toBeNull();
});

test("a failed build is reported in a sentence, leaves no files, and is tried again", async () => {
  const program = "services/web/node_modules/vite/bin/vite.js";
  write(program, `${vite}console.error("no such import"); process.exit(3);`);
  const { made } = build();
  const log = join(checkout, "build.log");
  await expect(made()).rejects.toThrow(`The Web UI could not be built (vite: 3): see ${log}.`);
  expect(readFileSync(log, "utf8")).toContain("no such import");
  const left = readdirSync(join(checkout, ".cache/web")).filter((name) => !name.startsWith("lock"));
  expect(left).toEqual([]);
  write(program, vite);
  await made();
  expect(calls()).toBe(2);
});

test("builds that no start has used for a week are removed", async () => {
  const old = build();
  await old.made();
  const weekAgo = new Date(Date.now() - 8 * 24 * 3_600_000);
  utimesSync(old.folder, weekAgo, weekAgo);
  write("services/web/src/main.tsx", "2");
  const { digest, made } = build();
  await made();
  const left = readdirSync(join(checkout, ".cache/web")).filter((name) => !name.startsWith("lock"));
  expect(left).toEqual([digest]);
});
