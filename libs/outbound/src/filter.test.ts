import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { matches, namesEvents, readFilter } from "./filter.ts";
import { LeavingEvent } from "./leaving-event.ts";

const none = {
  ...{ types: [], object: "", id: "", experiment: "", workspace: "", label: "" },
  where: [],
};
const facts = { workspace: "3", labels: ["nightly", "x"] };

function event(stream: string, recorded: AnyEvent): LeavingEvent {
  const meta = { source: "/trainyard/x", workspace: "", correlationid: "", causationid: "" };
  const stored = {
    ...{ position: 1, stream, version: 1, id: "i", timeMs: 0, commitId: "c" },
    meta: { ...meta, authid: "", traceparent: "" },
    ...encodeEvent(recorded),
  };
  return new LeavingEvent(stored, "e");
}

const ended = event("experiment-12", {
  type: "ExperimentEnded",
  data: { outcome: 3, reason: "no space" },
});
const progress = event("measurement-12.1", {
  type: "ProgressReported",
  data: { run: 0, percent: 40, atMs: 5 },
});
const revoked = event("token-ab", { type: "TokenRevoked", data: { reason: "" } });

describe("a filter", () => {
  test.each([
    [{}, [true, true, true]],
    [{ types: ["ExperimentEnded", "TokenRevoked"] }, [true, false, true]],
    [{ object: "experiment" }, [true, false, false]],
    [{ object: "trial" }, [false, true, false]],
    [{ object: "trial", id: "12.1" }, [false, true, false]],
    [{ object: "trial", id: "12.2" }, [false, false, false]],
    [{ experiment: "12" }, [true, true, false]],
    [{ experiment: "1" }, [false, false, false]],
    [{ workspace: "3" }, [true, true, false]],
    [{ workspace: "4" }, [false, false, false]],
    [{ label: "nightly" }, [true, true, false]],
    [{ where: ["outcome=FAILED"] }, [true, false, false]],
    [{ where: ["outcome=EXPERIMENT_OUTCOME_FAILED"] }, [true, false, false]],
    [{ where: ["outcome=COMPLETED"] }, [false, false, false]],
    [{ where: ["percent=40"] }, [false, true, false]],
    [{ where: ["percent=41"] }, [false, false, false]],
    [{ where: ["run=0"] }, [false, true, false]],
    [{ where: ["reason=no space"] }, [true, false, false]],
    [{ where: ["reason="] }, [false, false, true]],
    [{ where: ["at_ms=5", "percent=40"] }, [false, true, false]],
    [{ where: ["atMs=5", "percent=4"] }, [false, false, false]],
  ])("%j selects %j", (part, expected) => {
    const filter = readFilter({ ...none, ...part });
    if (isRejection(filter)) throw new Error(filter.detail);
    const found = [ended, progress].map((one) => matches(filter, one, facts));
    expect([...found, matches(filter, revoked, undefined)]).toEqual(expected);
    const naming = Object.keys(part).some((key) => ["types", "object", "where"].includes(key));
    expect(namesEvents(filter)).toBe(naming);
  });

  test.each([
    [{ types: ["Ended"] }, '"Ended" is not the type of an event: docs/events.md lists them'],
    [{ object: "planet" }, '"planet" is not a kind of object, such as experiment, trial or run'],
    [{ id: "12" }, "id needs an object: the kind of what it names"],
    [{ experiment: "twelve" }, '"twelve" is not the number of an experiment'],
    [{ where: ["outcome"] }, '"outcome" is not a condition FIELD=VALUE'],
    [{ where: ["=1"] }, '"=1" is not a condition FIELD=VALUE'],
    [{ where: ["colour=red"] }, '"colour" is not a scalar field of any event'],
    [
      { types: ["TokenRevoked"], where: ["percent=1"] },
      '"percent" is not a scalar field of TokenRevoked',
    ],
    [
      { types: Array.from({ length: 65 }, () => "TokenRevoked") },
      "a filter has at most 64 types and 64 conditions",
    ],
    [{ label: "x".repeat(1_025) }, "a part of a filter is a text of at most 1024 characters"],
    [{ object: "pool", id: "a\0b" }, "a part of a filter is a text of at most 1024 characters"],
  ])("%j is refused in one sentence", (part, detail) => {
    expect(readFilter({ ...none, ...part })).toEqual({ rejected: "invalid_filter", detail });
  });
});
