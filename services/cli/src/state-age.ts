import { type Output, time } from "./output.ts";

/** Says how old the states are that the scheduler decides, if it does not answer. */
export function noteAge(output: Output, answeredAtMs: number | undefined): void {
  if (answeredAtMs === undefined) return;
  const text =
    answeredAtMs === 0
      ? "the scheduler does not answer: the states are as of its last events"
      : `the scheduler does not answer: the states are as of ${time(answeredAtMs)}`;
  output.note(text);
}
