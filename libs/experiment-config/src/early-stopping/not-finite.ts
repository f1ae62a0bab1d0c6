/** Stops a trial whose value is not a finite number. */
import type { PolicyModule } from "./module.ts";

export const notFinite: PolicyModule = { keys: () => ({ optional: {} }), read: () => ({}) };
