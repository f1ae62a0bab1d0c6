import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { followRights } from "./follow-rights.ts";

test("the places are read again when the rights changed, and not for an equal answer", async () => {
  const queries = new QueryClient();
  followRights(queries);
  const me = (...permissions: string[]) => ({ hasUsers: true, permissions });
  const places = ["listWorkspaces", {}];
  const isStale = () => queries.getQueryState(places)?.isInvalidated;
  queries.setQueryData(places, []);
  queries.setQueryData(["getMe", {}], me("signed_in"));
  queries.setQueryData(["getMe", {}], me("signed_in"));
  expect(isStale()).toBe(false);
  queries.setQueryData(["getMe", {}], me("signed_in", "experiment_view"));
  expect(isStale()).toBe(true);
});
