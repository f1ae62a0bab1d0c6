/** A kind of delivery: it has a sink, and keeps what is in no event, such as secrets. */
import type { Plain } from "@trainyard/contracts";
import type {
  ChangeSubscription,
  CreateSubscription,
  SubscriptionFacts,
} from "@trainyard/contracts/commands";
import type { Rejection } from "@trainyard/kernel";
import type { OpenSink } from "./sink.ts";

/** The facts that a delivery adds to those of its subscription. */
export type DeliveryFacts = Partial<
  Pick<Plain<SubscriptionFacts>, "url" | "headerNames" | "oldSecretUntilMs" | "waiting">
>;

export interface DeliveryRoom {
  readonly open: OpenSink;
  /**
   * Checks the request and stores what is in no event, before the creation is recorded. Returns the secret that the
   * caller sees once. A repeat with the same `life` returns the same.
   */
  prepare(
    request: Plain<CreateSubscription>,
    life: string,
  ): Promise<{ readonly secret: string } | Rejection>;
  /** Checks and stores a change, before it is recorded. */
  change(request: Plain<ChangeSubscription>): Promise<Rejection | undefined>;
  /** Forgets everything about a deleted subscription. May be repeated. */
  remove(name: string): Promise<void>;
  facts(names: readonly string[]): Promise<ReadonlyMap<string, DeliveryFacts>>;
}
