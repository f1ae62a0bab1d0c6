import { localUser } from "@trainyard/access";
import { expect, test } from "vitest";
import { UserDirectory } from "./directory.ts";

test("the directory is empty while no other user than the service account local has a name", () => {
  const directory = new UserDirectory({} as never);
  expect(directory.isEmpty).toBe(true);
  directory.set("0f3a", "Ada");
  expect(directory.isEmpty).toBe(false);
  const ofNobody = new UserDirectory({} as never);
  ofNobody.set(localUser, "local");
  expect(ofNobody.isEmpty).toBe(true);
  ofNobody.set("0f3a", "Ada");
  expect(ofNobody.isEmpty).toBe(false);
});
