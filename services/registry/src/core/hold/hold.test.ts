import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { holdDecider as decider } from "./decide.ts";
import type { HoldEvent } from "./state.ts";

const rewind = { position: 7, event: "lost", noticedBy: "relay", detail: "the log went back" };
const hold = { kind: "hold", rewind } as const;
const release = { kind: "release", by: "ada", reason: "compared" } as const;
const held: HoldEvent = { type: "DeletionsHeld", data: rewind };
const released: HoldEvent = { type: "DeletionsReleased", data: { by: "ada", reason: "compared" } };

describe("a log that went back", () => {
  test("holds deletions", () => given(decider).when(hold).then(held));
  test("is recorded once", () => given(decider, held).when(hold).thenNothing());
  test("holds deletions again after a release", () =>
    given(decider, held, released).when(hold).then(held));
});

describe("a release", () => {
  test("ends the hold", () => given(decider, held).when(release).then(released));
  test("without a hold is refused", () =>
    given(decider).when(release).thenRejected("deletions_not_held"));
  test("is refused a second time", () =>
    given(decider, held, released).when(release).thenRejected("deletions_not_held"));
});
