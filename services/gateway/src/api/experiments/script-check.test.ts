import { parseExperiment } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { scriptCheck } from "./script-check.ts";

function configOf(entrypoint: string, more: object = {}) {
  const searcher = { name: "single", metric: "loss" };
  const parsed = parseExperiment(JSON.stringify({ name: "a", entrypoint, searcher, ...more }), {
    defaults: { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } },
  });
  if (isRejection(parsed)) throw new Error(parsed.detail);
  return parsed.config;
}

/** Returns the refusal of code with these files, and links marked with @; null if it is accepted. */
function refusal(entrypoint: string, ...entries: readonly string[]): string | null {
  const check = scriptCheck(configOf(entrypoint));
  for (const entry of entries)
    check?.see(entry.replace("@", ""), entry.includes("@") ? "SymbolicLink" : "File");
  try {
    check?.refuse();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test("a script that the code does not have is refused, with the file that was probably meant", () => {
  const missing = "entrypoint starts trian.py, which is not in the submitted code";
  expect(refusal("python3 trian.py", "model.py", "train.py")).toBe(`${missing}; "train.py" is`);
  expect(refusal("python3 trian.py", "train.txt", "data.bin")).toBe(missing);
  expect(refusal("python3 trian.py")).toBe(missing);
  expect(refusal("python3 -m trainyard.launch.torch train.py", "brain.py", "src/train.py")).toBe(
    'entrypoint starts train.py, which is not in the submitted code; "src/train.py" is',
  );
  expect(refusal("python3 src/train.py", "train.py", "src/strain.py")).toContain(
    '"src/strain.py" is',
  );
});

test("a script that the code has, or may have at the time of the run, is accepted", () => {
  expect(refusal("python3 train.py", "a.py", "train.py")).toBeNull();
  expect(refusal("python3 ./src//train.py", "./src/train.py")).toBeNull();
  expect(refusal("python3 main.py", "@main.py")).toBeNull();
  expect(refusal("python3 linked/train.py", "@linked")).toBeNull();
  expect(refusal("python3 folder.py", "folder.py/__main__.py")).toBeNull();
  expect(refusal("python3 train.py", "startup-hook.sh")).toBeNull();
  expect(refusal("cd src && python3 trian.py", "src/train.py")).toBeNull();
  expect(refusal("python3 /opt/trian.py", "train.py")).toBeNull();
});

test("a mount below the code may have the script", () => {
  const mount = (container_path: string) => ({
    bind_mounts: [{ host_path: "/data", container_path }],
  });
  expect(scriptCheck(configOf("python3 data/train.py", mount("data")))).toBeNull();
  expect(scriptCheck(configOf("python3 data/train.py", mount("/data")))).not.toBeNull();
});
