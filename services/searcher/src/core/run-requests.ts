/**
 * The newest run of a trial at a position of the log; reports of earlier runs are stale. Requests beyond the position
 * may be known already and must not count, so each request is kept with its position.
 */
export type RunRequest = { readonly run: number; readonly position: number };

/** The run requests of a trial, in log order. */
export type RunRequests = readonly RunRequest[];

/** Adds a request; a repeated one changes nothing. */
export function withRequest(requests: RunRequests, request: RunRequest): RunRequests {
  return request.run > (requests.at(-1)?.run ?? 0) ? [...requests, request] : requests;
}

/** Returns the newest run before the position; 0 for none. */
export function currentRunAt(requests: RunRequests, position: number): number {
  return requests.findLast((request) => request.position < position)?.run ?? 0;
}
