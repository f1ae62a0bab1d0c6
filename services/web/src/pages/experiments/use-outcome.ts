import { useSay } from "../../components/toasts.tsx";
import { type Outcome, outcomeText, summaryOf } from "./outcomes.ts";

/** Tells the outcome of a change of several experiments. The dialog, which stays open then, shows an error itself. */
export function useOutcome(done: string, onDone: () => void) {
  const say = useSay();
  return (change: Promise<{ readonly items: readonly Outcome[] }>): void => {
    change.then(
      ({ items }) => {
        say.done(outcomeText({ done }, summaryOf(items)));
        onDone();
      },
      () => {},
    );
  };
}
