import { describe, expect, it } from "vitest";
import { verbsOf } from "./verbs-of.ts";

const offered = (state: string, archived = false) =>
  verbsOf({ state, archived }).map(({ verb }) => verb);

describe("the verbs of an experiment's page", () => {
  it("pause, cancel and kill an active experiment", () => {
    expect(offered("ACTIVE")).toEqual(["pause", "fork", "cancel", "kill"]);
  });

  it("activate a paused experiment", () => {
    expect(offered("PAUSED")).toEqual(["activate", "fork", "cancel", "kill"]);
  });

  it("only kill an experiment that is being canceled, and cannot end one that is being killed", () => {
    expect(offered("STOPPING_CANCELED")).toEqual(["fork", "kill"]);
    expect(offered("STOPPING_KILLED")).toEqual(["fork"]);
  });

  it.each(["COMPLETED", "CANCELED", "ERROR"])(
    "continue, archive and delete an experiment in %s",
    (state) => {
      expect(offered(state)).toEqual(["fork", "continue", "archive", "delete"]);
    },
  );

  it("unarchive an archived experiment, which cannot be continued before", () => {
    expect(offered("COMPLETED", true)).toEqual(["fork", "unarchive", "delete"]);
  });

  it("ask before they end or delete an experiment", () => {
    const kinds = ["ACTIVE", "COMPLETED"].flatMap((state) => verbsOf({ state, archived: false }));
    const unasked = kinds.filter(({ kind }) => kind === "now").map(({ verb }) => verb);
    expect(unasked).toEqual(["pause", "archive"]);
  });
});
