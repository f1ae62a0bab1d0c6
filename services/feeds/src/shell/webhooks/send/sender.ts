/** Sends one request to a receiver outside of the platform. */

export type OutgoingRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Answer = {
  readonly tookMs: number;
  /** The status of the answer; absent if there was none. */
  readonly status?: number;
  /** The reason why there was no answer, in one sentence; empty otherwise. */
  readonly error: string;
  /** The beginning of the answer; empty for a receiver in a private network. */
  readonly answer: string;
  /** The wait that the receiver asked for. */
  readonly retryAfterMs?: number;
  /** Whether the receiver is in a private network. */
  readonly isPrivate: boolean;
};

export interface Sender {
  /** Never rejects for what the receiver does; the time and the answer are limited. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<Answer>;
}
