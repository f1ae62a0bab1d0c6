import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

const soon = async (): Promise<never> => {
  throw new Problem(501, "not_built", "not built yet");
};

export function subscriptionHandlers(_backend: Backend) {
  return {
    createSubscription: soon,
    listSubscriptions: soon,
    getSubscription: soon,
    changeSubscription: soon,
    deleteSubscription: soon,
    ackSubscription: soon,
    adoptSubscription: soon,
    disableSubscription: soon,
    enableSubscription: soon,
    rotateSecret: soon,
    testWebhook: soon,
    listDeliveries: soon,
    redeliverEvent: soon,
  } satisfies Partial<UnaryHandlers>;
}
