import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = `
import { createRequire } from "node:module";
import { openState } from ${JSON.stringify(join(import.meta.dirname, "open-state.ts"))};
const { cache } = createRequire(import.meta.url);
const isLoaded = () => Object.keys(cache).some((path) => path.includes("/ioredis/"));
const logger = { warn: () => {}, info: () => {} };
const clock = { monotonicMs: () => 0, nowMs: () => 0, timer: () => ({ [Symbol.dispose]() {} }) };
const stack = new AsyncDisposableStack();
await openState(null, { stack, clock, logger });
const before = isLoaded();
await openState("redis://127.0.0.1:1", { stack, clock, logger });
console.log(before, isLoaded());
await stack.disposeAsync();
`;

test("the client of Redis is loaded only with its setting", () => {
  const settings = ["--input-type=module", "-e", program];
  expect(execFileSync(process.execPath, settings, { encoding: "utf8" })).toBe("false true\n");
});
