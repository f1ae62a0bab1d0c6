/** The worker thread in which models compute. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { answerTo } from "@trainyard/search";

answerCalls(answerTo);
