import { answerTo } from "@trainyard/search";
import type { SuggestingModel } from "./model.ts";

/** Computes where it is asked, and holds up everything else meanwhile: for worlds in virtual time. */
export const inlineModel: SuggestingModel = {
  answer: (question) => Promise.resolve().then(() => answerTo(question)),
};
