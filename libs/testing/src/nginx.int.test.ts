import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { hasNginx, runNginx } from "./nginx.ts";

test("an nginx that rejects its configuration fails with nginx's sentence", async ({ skip }) => {
  if (!hasNginx()) skip("nginx, from the distribution");
  const started = runNginx("  no_such_directive on;", await freePort());
  await expect(started).rejects.toThrow(
    /unknown directive "no_such_directive" in .*nginx\.conf:\d+/,
  );
});
