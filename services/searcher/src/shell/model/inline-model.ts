import { answerTo } from "@trainyard/search";
import type { SuggestingModel } from "./model.ts";

/** Computes in the calling thread and blocks its event loop: for simulations in virtual time. */
export const inlineModel: SuggestingModel = {
  answer: (question) => Promise.resolve().then(() => answerTo(question)),
};
