#!/usr/bin/env node
// The one entry of every npm script. Runs under any Node from 18 on, so plain JavaScript and nothing installed:
// brings what is missing (packages, and with them Node 24), then hands over to scripts/tasks/<name>.ts under Node 24.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules", ".trainyard-installed");
const node = join(root, "node_modules", ".bin", "node");
const pnpm = "pnpm@10";

function installedDigest() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

function install() {
  const digest = installedDigest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  process.stderr.write("installing packages (once; a minute or two) …\n");
  const done = spawnSync(
    "npx",
    ["--yes", pnpm, "install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=error"],
    // Install output goes to stderr: stdout belongs to the command.
    { cwd: root, stdio: ["ignore", 2, 2], env: { ...process.env, CI: "true" } },
  );
  // Node's package is optional, since there is one for each processor: pnpm succeeds without it.
  if (done.status !== 0 || !existsSync(node)) {
    process.stderr.write(
      'The packages could not be installed. See the lines above; README.md, "When it does not start".\n',
    );
    process.exit(1);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
}

const [task, ...rest] = process.argv.slice(2);
if (task === undefined || !existsSync(join(root, "scripts", "tasks", `${task}.ts`))) {
  process.stderr.write(`there is no task called ${task ?? ""}\n`);
  process.exit(2);
}
install();
const child = spawn(node, [join(root, "scripts", "tasks", `${task}.ts`), ...rest], {
  stdio: "inherit",
  // npm sets INIT_CWD to the folder that the user called it in.
  env: {
    // Compiled code is kept between calls: a command is up in half the time.
    NODE_COMPILE_CACHE: join(root, ".cache", "compiled"),
    ...process.env,
    TRAINYARD_CALLER_DIR: process.env.INIT_CWD ?? process.cwd(),
  },
});
// Ctrl-C reaches the whole process group: this process only waits for the child to end its own way.
let asked = false;
process.on("SIGINT", () => {
  asked = true;
});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    asked = true;
    child.kill(signal);
  });
}
// A killed npm sends no signal. Without npm nobody sees how the child ends, so it is asked to, unless it was before: a
// second signal ends a service at once. A program that was started without npm may outlive its parent.
if (process.env.npm_lifecycle_event !== undefined) {
  const npm = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(look);
    if (!asked) child.kill("SIGTERM");
  }, 500);
  look.unref();
}
child.on("exit", (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0);
});
