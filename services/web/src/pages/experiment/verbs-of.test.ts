import { describe, expect, it } from "vitest";
import { verbsOf } from "./verbs-of.ts";

const of = (state: string, { archived = false, continueRefusal = "" } = {}) =>
  verbsOf({ state, archived, continueRefusal });
const always = ["name", "description", "labels", "move", "copy-link", "download-code"];
const possible = (state: string, archived = false) =>
  of(state, { archived })
    .filter(({ why }) => why === undefined)
    .map(({ verb }) => verb)
    .filter((verb) => !always.includes(verb) && verb !== "continue");

describe("the verbs of an experiment's page", () => {
  it("pause, cancel and kill an active experiment", () => {
    expect(possible("ACTIVE")).toEqual(["pause", "fork", "cancel", "kill"]);
  });

  it("activate a paused experiment", () => {
    expect(possible("PAUSED")).toEqual(["activate", "fork", "cancel", "kill"]);
  });

  it("only kill an experiment that is being canceled, and cannot end one that is being killed", () => {
    expect(possible("STOPPING_CANCELED")).toEqual(["fork", "kill"]);
    expect(possible("STOPPING_KILLED")).toEqual(["fork"]);
  });

  it.each(["COMPLETED", "CANCELED", "ERROR"])("archive and delete an experiment in %s", (state) => {
    expect(possible(state)).toEqual(["fork", "archive", "delete"]);
    expect(possible(state, true)).toEqual(["fork", "unarchive", "delete"]);
  });

  it("are the same in every state: one that cannot run has the reason", () => {
    const titles = (state: string) => of(state).map(({ title }) => title);
    expect(titles("COMPLETED")).toEqual(titles("ACTIVE"));
    const whyOf = (state: string, name: string) =>
      of(state, {
        continueRefusal: "a search by auto does not continue: fork the experiment",
      }).find(({ verb }) => verb === name)?.why;
    expect(whyOf("COMPLETED", "pause")).toBe("The experiment has ended.");
    expect(whyOf("ACTIVE", "delete")).toBe("The experiment has not ended: cancel it first.");
    expect(whyOf("STOPPING_KILLED", "kill")).toBe("The experiment is being stopped for good.");
    expect(whyOf("COMPLETED", "continue")).toMatch(/auto does not continue/);
  });

  it("edit the name, the description and the labels in place in every state", () => {
    const edited = ["ACTIVE", "ERROR"].map(
      (state) => of(state).filter(({ kind }) => kind === "edit").length,
    );
    expect(edited).toEqual([3, 3]);
  });

  it("ask before they end or delete an experiment", () => {
    const kinds = ["ACTIVE", "COMPLETED"].flatMap((state) => of(state));
    const unasked = kinds
      .filter(({ kind, why }) => kind === "now" && why === undefined)
      .map(({ verb }) => verb);
    expect(unasked).toEqual(["pause", "archive"]);
  });
});
