import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("a service starts without loading the code of fetch, which an import of node:http loads", () => {
  const program = `
    const isLoaded = () => process.moduleLoadList.some((name) => name.endsWith("/undici"));
    await import("@trainyard/runtime");
    const before = isLoaded();
    await import("node:http");
    console.log(JSON.stringify([before, isLoaded()]));
  `;
  const cwd = join(import.meta.dirname, "..", "..");
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd,
    encoding: "utf8",
  });
  expect(JSON.parse(said)).toEqual([false, true]);
});
