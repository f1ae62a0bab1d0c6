/** The command `npm run -s images`: what it refuses. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { podman, test } from "./images.ts";

const refused = (...argv: readonly string[]): string => {
  try {
    execFileSync(process.execPath, [join(root, "scripts/tasks/images.ts"), ...argv], {
      env: { ...podman.forBuilds, NODE_NO_WARNINGS: "1" },
      stdio: "pipe",
    });
  } catch (error) {
    return String((error as { readonly stderr: Buffer }).stderr);
  }
  throw new Error("it was accepted");
};

test("the command refuses an image, a tag and a base that do not exist with one line each", () => {
  expect(refused("relai")).toMatch(/^images: there is no image "relai", only relay, .*\n$/);
  expect(refused("--tag", "a/b")).toMatch(/^images: "a\/b" is no tag: .*\n$/);
  const base = refused("--base", "localhost/absent:1", "relay");
  expect(base).toMatch(/^images: buildah: .*absent.*\n$/);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("trainyard-images-"))).toEqual([]);
});
