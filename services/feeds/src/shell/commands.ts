import type { CommandTable } from "@trainyard/runtime";
import { reject } from "@trainyard/kernel";

const soon = async () => reject("not_built", "not built yet");

export function commandTable(): CommandTable<"feeds"> {
  return {
    CreateSubscription: soon,
    ChangeSubscription: soon,
    DeleteSubscription: soon,
    AckSubscription: soon,
    AdoptSubscription: soon,
    DisableSubscription: soon,
    EnableSubscription: soon,
    RotateSecret: soon,
    ListSubscriptions: soon,
    TestWebhook: soon,
    ListDeliveries: soon,
    RedeliverEvent: soon,
  };
}
