import type { OfferSuggestion, Question } from "@trainyard/search";

/** Answers the questions of searches. */
export interface SuggestingModel {
  /**
   * Computes the answer to a question; equal questions have equal answers. Answers may arrive in any order. A rejection
   * means that the answer could not be computed at present.
   */
  answer(question: Question): Promise<OfferSuggestion>;
}
