import { allRights, Rights } from "@trainyard/access";
import { expect, test } from "vitest";
import { places, placesFor } from "./places.ts";

const titles = (rights: Rights, hasUsers: boolean): readonly string[] =>
  placesFor(rights, hasUsers).map(({ title }) => title);

test("each page has a key of its own", () => {
  expect(new Set(places.map(({ key }) => key)).size).toBe(places.length);
});

test("in a cluster without users there is every page but the account", () => {
  const all = places.map(({ title }) => title);
  expect(titles(allRights(""), false)).toEqual(all.filter((title) => title !== "Account"));
  expect(titles(allRights(""), true)).toEqual(all);
});

test("a page with nothing that the caller may see has no entry", () => {
  const inVision = new Map([["vision", new Set(["workspace_view", "model_view"] as const)]]);
  expect(titles(new Rights("bo", new Set(), inVision), true)).toEqual([
    "Home",
    "Models",
    "Users",
    "Account",
    "Tokens",
    "API",
  ]);
});
