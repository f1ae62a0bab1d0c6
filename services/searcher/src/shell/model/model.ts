import type { OfferSuggestion, Question } from "@trainyard/search";

/** Answers the questions of searches. */
export interface SuggestingModel {
  /**
   * The same answer to the same question, always. Promises no order; a rejection says that
   * the answer could not be computed now, and nothing of the question.
   */
  answer(question: Question): Promise<OfferSuggestion>;
}
