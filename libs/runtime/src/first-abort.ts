/**
 * A signal that aborts with the first of several. As AbortSignal.any, but what listens to it is held by the given
 * signals alone: a runtime keeps every composite of its own that has a listener until it aborts, with all that the
 * listener sees.
 */
export function firstAbort(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    for (const signal of signals) signal.removeEventListener("abort", abort);
    controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const signal of signals) signal.addEventListener("abort", abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  return controller.signal;
}
