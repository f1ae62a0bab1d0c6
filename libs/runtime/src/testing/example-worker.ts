import { answerCalls } from "../worker/answer-calls.ts";

/** Doubles numbers; throws for negative ones, and its thread exits at 0. */
answerCalls((question: number) => {
  if (question === 0) process.exit(1);
  if (question < 0) throw new Error("a number below zero");
  return 2 * question;
});
