/** Experiments and trials that are taken up again, and one trial that is killed. */
import type { ReplyOf } from "@trainyard/contracts";
import {
  AcceptedSchema,
  ContinueExperimentSchema,
  KillTrialSchema,
  RestartTrialSchema,
} from "@trainyard/contracts/commands";
import { isExperimentId, parseTrialId } from "@trainyard/kernel";
import { notFound } from "../http/problem.ts";
import type { UnaryHandlers } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { shownExperiment, shownTrial } from "./shown.ts";

export function experimentLifeHandlers(backend: Backend) {
  const ofTrial = async (
    trial: string,
    ask: () => Promise<{ readonly position: number }>,
  ): Promise<ReplyOf<"killTrial">> => {
    if (parseTrialId(trial) === null) throw notFound("trial", trial);
    const { position } = await ask();
    await backend.reach(position);
    const doc = await backend.get("trial", trial);
    const experiment = await backend.find("experiment", doc.experiment);
    const shown = shownTrial(doc, experiment, await backend.configOf(doc.experiment));
    return { position: String(position || backend.position), trial: shown };
  };
  return {
    continueExperiment: async (request, context) => {
      const { experiment } = request;
      if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
      const schemas = [ContinueExperimentSchema, request, AcceptedSchema] as const;
      const { position } = await backend.command("experiments", ...schemas, context);
      await backend.reach(position);
      const doc = await backend.get("experiment", experiment);
      const shown = shownExperiment(doc, await backend.configOf(experiment));
      return { position: String(position || backend.position), experiment: shown };
    },
    restartTrial: ({ trial }, context) =>
      ofTrial(trial, () =>
        backend.command("experiments", RestartTrialSchema, { trial }, AcceptedSchema, context),
      ),
    killTrial: ({ trial, reason }, context) =>
      ofTrial(trial, () => {
        const request = { trial, reason: reason || "killed by a user" };
        return backend.command("experiments", KillTrialSchema, request, AcceptedSchema, context);
      }),
  } satisfies Partial<UnaryHandlers>;
}
