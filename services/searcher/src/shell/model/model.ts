import type { OfferSuggestion, Question } from "@trainyard/search";

/** Who answers the questions of searches. */
export interface SuggestingModel {
  /**
   * The same answer to the same question, whoever computes it, however often. Promises no order; a rejection says that
   * the answer could not be computed now, and nothing of the question.
   */
  answer(question: Question): Promise<OfferSuggestion>;
}
