import { expect, test } from "vitest";
import { staleRevision } from "./stale-revision.ts";

test("the message for a stale revision differs from that for a revision that never existed", () => {
  expect(staleRevision(0, 2).detail).toBe(
    "it was changed since revision 0 was read: read it again, the latest is revision 2",
  );
  expect(staleRevision(3, 2).detail).toBe("it has no revision 3: the latest is revision 2");
});
