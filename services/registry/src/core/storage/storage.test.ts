import { fold } from "@trainyard/kernel";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { storageDecider as decider } from "./decide.ts";
import { evolveStorageState, initialStorage } from "./evolve.ts";
import type { StorageEvent } from "./state.ts";

const adopt = (storageId: string, ...replacedIds: readonly string[]) =>
  ({ kind: "adopt", root: "/c", storageId, replacedIds, by: "ada" }) as const;
const adopted = (storageId: string, ...replacedIds: string[]): StorageEvent => ({
  type: "StorageAdopted",
  data: { root: "/c", storageId, replacedIds, by: "ada" },
});

describe("adopting a storage", () => {
  test("is recorded", () => given(decider).when(adopt("a")).then(adopted("a")));
  test("again changes nothing", () => given(decider, adopted("a")).when(adopt("a")).thenNothing());
  test("with another id at the same root is recorded", () =>
    given(decider, adopted("a")).when(adopt("b")).then(adopted("b")));
  test("with the id that a root had before is recorded once", () => {
    given(decider, adopted("a")).when(adopt("a", "z")).then(adopted("a", "z"));
    given(decider, adopted("a", "z")).when(adopt("a", "z")).thenNothing();
  });

  test("keeps the replaced ids of earlier adoptions, except the current id", () => {
    const state = fold(evolveStorageState, initialStorage, [adopted("a", "z"), adopted("z", "a")]);
    expect(state).toEqual({ id: "z", replaced: ["a"] });
  });
});
