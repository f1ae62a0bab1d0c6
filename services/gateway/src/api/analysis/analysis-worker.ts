/** The worker thread that analyses searches, so that the event loop stays free. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { apiLimits } from "../limits.ts";
import { type AnalysisAnswer, type AnalysisQuestion, SearchAnalyses } from "./search-analyses.ts";

const analyses = new SearchAnalyses(apiLimits.analysedBytesMax);

answerCalls<AnalysisQuestion, AnalysisAnswer>((question) => analyses.answer(question));
