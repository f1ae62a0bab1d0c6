/**
 * The hazards that experiments and searcher can meet, each as a script. The expectations of a script must be true
 * wherever a trouble strikes, so they concern the outcome and not the way to it.
 */

import { AllocationEndCause, SearchCompletion, StopKind } from "@trainyard/contracts/events";
import type { Hazard } from "./hazard.ts";
import type { Scene } from "./scene.ts";
import {
  acknowledged,
  agentLost,
  crashed,
  differs,
  type Ended,
  endedBy,
  finish,
  finishAll,
  finished,
  proposals,
  report,
  running,
  withdrawn,
} from "./scene-steps.ts";
import { grid, random, single, wide } from "./submissions.ts";

const suspended = { type: "TrialSuspended", data: { trial: 1, rung: 0, rule: "asha" } } as const;
const resumed = {
  type: "TrialResumed",
  data: { trial: 1, target: 10, rung: 0, rule: "halving" },
} as const;
const stopped = { type: "TrialStopDecided", data: { trial: 1, rule: "asha" } } as const;
const checkpoints = [
  "aaaaaaaa-0000-4000-8000-000000000001",
  "bbbbbbbb-0000-4000-8000-000000000002",
] as const;

async function checkpoint(scene: Scene, id: string, run: number, step: number): Promise<void> {
  const about = { trial: `${scene.id}.1`, run, step };
  await scene.tell(`checkpoint-${id}`, {
    type: "CheckpointCompleted",
    data: { ...about, manifestDigest: "d", files: 1, bytes: 1 },
  });
}

/** The run that was asked to stop stops. */
async function windDown(scene: Scene, end: Ended = acknowledged): Promise<void> {
  await scene.settle();
  // A fan-out beside the reactions may ask the run to stop later.
  if (scene.unended()?.stopping === false) await scene.rest();
  const unended = scene.unended();
  if (unended?.stopping === true) await scene.tell(scene.allocation(unended.run), end);
  await scene.settle();
}

function observations(scene: Scene): readonly string[] {
  return scene
    .events(scene.search)
    .flatMap((event) =>
      event.type === "ObservationRecorded"
        ? [`run ${event.data.run} at ${event.data.time}${event.data.repeat ? ", a repeat" : ""}`]
        : [],
    );
}

const ofStops: readonly Hazard[] = [
  {
    name: "a stop decided while the run is queued",
    async script(scene) {
      await scene.create(single);
      await scene.settle();
      await scene.tell(scene.search, stopped);
      await windDown(scene, withdrawn);
    },
    trial: "stopped_early",
    experiment: "completed",
    check: (scene) => differs("runs", scene.requests().length, 1),
  },
  {
    name: "a trial that finishes while its stop is on the way",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.search, stopped);
      await scene.tell(scene.allocation(1), finished);
    },
    trial: "completed",
    experiment: "completed",
  },
  {
    name: "what the search stopped and does not exit is killed",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.search, stopped);
      await windDown(scene, endedBy(AllocationEndCause.KILLED));
    },
    trial: "stopped_early",
    experiment: "completed",
    check: (scene) =>
      scene
        .events(scene.trial())
        .flatMap((event) =>
          event.type === "RunStopRequested"
            ? differs("the grace until it is killed", event.data.graceMs, 60_000)
            : [],
        ),
  },
  {
    name: "an experiment killed before its first trial exists",
    async script(scene) {
      await scene.create(single);
      await scene.stop(StopKind.KILL);
      await windDown(scene, withdrawn);
    },
    trial: "any",
    experiment: "canceled",
  },
  {
    name: "a kill between TrialProposed and its RunRequested",
    async script(scene) {
      await scene.create(single);
      const isProposed = () =>
        scene.events(scene.search).some(({ type }) => type === "TrialProposed");
      await scene.until(isProposed, "a trial is proposed");
      await scene.stop(StopKind.KILL);
      await windDown(scene, withdrawn);
    },
    trial: "any",
    experiment: "canceled",
  },
];

const ofSuspensions: readonly Hazard[] = [
  {
    name: "a suspend that crosses a preemption",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), acknowledged);
      await scene.tell(scene.search, suspended);
      await windDown(scene, withdrawn);
      await scene.tell(scene.search, resumed);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
  },
  {
    name: "a resume while the old run winds down",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.search, suspended);
      await scene.settle();
      await scene.tell(scene.search, resumed);
      await scene.settle();
      await scene.tell(scene.allocation(1), acknowledged);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("runs", scene.requests().length, 2),
  },
  {
    name: "a non-zero exit during a suspend",
    async script(scene) {
      await running(scene);
      await checkpoint(scene, checkpoints[0], 1, 10);
      await scene.tell(scene.search, suspended);
      await windDown(scene, crashed);
      await scene.tell(scene.search, resumed);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the step it continues from", scene.requests().at(-1)?.fromStep, 10),
  },
  {
    name: "pause and activate in quick turn",
    async script(scene) {
      await running(scene);
      await scene.pause();
      await scene.activate();
      await windDown(scene);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
  },
];

const ofRuns: readonly Hazard[] = [
  {
    name: "a validation of run 1 after run 2 was requested",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), agentLost);
      await scene.settle();
      await report(scene, 1, 20);
      await report(scene, 2, 10);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("observations", observations(scene), ["run 2 at 10"]),
  },
  {
    name: "run 2 repeating a step of run 1",
    async script(scene) {
      await running(scene);
      await report(scene, 1, 10);
      await scene.tell(scene.allocation(1), agentLost);
      await scene.settle();
      await report(scene, 2, 10);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs("observations", observations(scene), ["run 1 at 10", "run 2 at 10, a repeat"]),
  },
  {
    name: "an agent that returns with a run that was given up changes nothing of the trial",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), agentLost);
      await scene.settle();
      await report(scene, 1, 30);
      await checkpoint(scene, checkpoints[0], 1, 30);
      await scene.tell(scene.allocation(2), agentLost);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("the step it continues from", scene.requests().at(-1)?.fromStep, 0),
  },
  {
    name: "a search that completes while a trial restarts",
    async script(scene) {
      await running(scene);
      await scene.tell(scene.allocation(1), crashed);
      const data = { reason: SearchCompletion.EXHAUSTED };
      await scene.tell(scene.search, { type: "SearchCompleted", data });
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("runs", scene.requests().length, 2),
  },
  {
    name: "a checkpoint condemned while a queued run wants it",
    async script(scene) {
      await running(scene);
      await checkpoint(scene, checkpoints[0], 1, 10);
      await checkpoint(scene, checkpoints[1], 1, 20);
      await scene.settle();
      await scene.tell(scene.allocation(1), crashed);
      await scene.settle();
      const empty = { experiment: "", by: "", reason: "" };
      const data = { competitors: [], referencesChecked: [], graceEndMs: 0, ...empty };
      await scene.tell(`retention-${checkpoints[1]}`, { type: "CheckpointCondemned", data });
      await scene.tell(scene.allocation(2), agentLost);
      await finish(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) =>
      differs(
        "the steps it continued from",
        scene.requests().map(({ fromStep }) => fromStep),
        [0, 20, 10],
      ),
  },
  {
    name: "a trial that fails until its restarts are used up",
    async script(scene) {
      await running(scene);
      for (let run = 1; run <= 3; run += 1) {
        await scene.tell(scene.allocation(run), crashed);
        await scene.settle();
      }
    },
    trial: "failed",
    experiment: "failed",
    check: (scene) => differs("runs", scene.requests().length, 3),
  },
  {
    name: "a trial whose runs are lost without end",
    async script(scene) {
      await running(scene);
      for (let run = 1; scene.requests().length >= run && run < 20; run += 1) {
        await scene.tell(scene.allocation(run), agentLost);
        await scene.settle();
      }
    },
    trial: "failed",
    experiment: "failed",
    check: (scene) => [
      ...differs("runs", scene.requests().length, 5),
      ...differs(
        "the delays",
        scene.requests().map(({ delayMs }) => delayMs),
        [0, 1_000, 2_000, 4_000, 8_000],
      ),
      ...differs("at most 60 events", scene.log.store.events.length <= 60, true),
    ],
  },
];

/** Not a hazard but the basic guarantee: an experiment ends, whichever process dies on the way. */
const mainLine: readonly Hazard[] = [
  {
    name: "a single training from its creation to its end",
    async script(scene) {
      await scene.create(single);
      await finishAll(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("trials", proposals(scene), 1),
  },
  {
    name: "a random search from its creation to its end",
    async script(scene) {
      await scene.create(random(4, 2));
      await finishAll(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("trials", proposals(scene), 4),
  },
  {
    name: "a grid search from its creation to its end",
    async script(scene) {
      await scene.create(grid);
      await finishAll(scene);
    },
    trial: "completed",
    experiment: "completed",
    check: (scene) => differs("trials", proposals(scene), 6),
  },
  {
    name: "a pause of more trials than one commit takes",
    long: true,
    async script(scene) {
      await scene.create(wide);
      await scene.settle();
      await scene.pause();
      await scene.settle();
      for (let number = 1; number <= proposals(scene); number += 1) {
        await scene.tell(scene.allocation(1, number), withdrawn);
      }
      await scene.settle();
      await scene.activate();
      await scene.settle();
    },
    trial: "not ended",
    experiment: "not ended",
    check: (scene) =>
      Array.from({ length: proposals(scene) }, (_, n) => scene.unended(n + 1)).flatMap((run, n) =>
        differs(`the run of trial ${n + 1}`, run, { run: 2, stopping: false }),
      ),
  },
];

export const hazards: readonly Hazard[] = [...ofStops, ...ofSuspensions, ...ofRuns, ...mainLine];
