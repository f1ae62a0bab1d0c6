import { afterAll, expect, test } from "vitest";
import { ContainerWorld } from "./testing/container-world.ts";
import { launchOf, packed, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);

test("a startup hook runs before the process, which keeps its arguments, and a failing hook ends the run", async () => {
  await using world = await ContainerWorld.open("", { TRAINYARD_AGENT_RUNTIME: "process" });
  await world.startAgent();
  const { platform } = world;
  const hook = "export FROM_HOOK=yes\necho hooked $#\n";
  const files = { "startup-hook.sh": hook, "a.sh": 'echo "$FROM_HOOK" "$1"' };
  const contextDigest = platform.addContext(await packed(files));
  const launch = launchOf(["sh", "a.sh", "an 'argument'"], { contextDigest });
  expect((await world.ended(launch)).exit?.code).toBe(0);
  expect(platform.texts(launch)).toEqual(["hooked 3", "yes an 'argument'"]);
  const failing = platform.addContext(
    await packed({ "startup-hook.sh": "echo no >&2; (exit 7)\n" }),
  );
  const failed = launchOf("echo never", { contextDigest: failing });
  expect((await world.ended(failed)).exit).toMatchObject({
    code: 7,
    message: "exited with code 7: no",
  });
  expect(platform.texts(failed)).toEqual(["no"]);
});
