import { expect, it } from "vitest";
import { searchLimits } from "../limits.ts";
import { finishOf, posting, proposal, startedCustom, stopOf } from "../testing/custom.ts";

it("a search with too many trials to stop at once can be finished after some trials were stopped", () => {
  const { stopsPerFinishMax, operationsPerPostMax } = searchLimits;
  const search = startedCustom();
  for (let at = 0; at <= stopsPerFinishMax; at += operationsPerPostMax) {
    const batch = Array.from({ length: operationsPerPostMax }, (_, n) => proposal(`p${at + n}`));
    search.send(posting(batch));
  }
  expect(search.machine.decide(posting([finishOf("end")]))).toMatchObject({
    rejected: "too_many_trials",
    detail: expect.stringMatching(/more than 2000 trials at once: stop some of them first, or let/),
  });
  const stops = Array.from({ length: operationsPerPostMax }, (_, n) => stopOf(`s${n}`, n + 1));
  search.send(posting(stops));
  const finished = search.send(posting([finishOf("end")]));
  expect(finished.filter(({ type }) => type === "TrialStopDecided")).toHaveLength(
    stopsPerFinishMax,
  );
});
