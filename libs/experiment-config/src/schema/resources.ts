import { isName } from "@trainyard/kernel";
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { anyText, count, entry, flag, number, oneOf, section, text } from "./values.ts";

/** "" means the default pool, as in Determined. */
const pool = z.string().refine((name) => name === "" || isName(name), {
  error: "must be a pool's name: up to 63 letters, digits, dots, dashes and underscores",
});

const memorySize = 'a memory size: a number of bytes, or text such as "4G" or "1.5 gb"';
const device =
  'a mapping of host_path, container_path and mode, or text such as "/dev/a:/dev/a:mrw"';

function textLike(pattern: RegExp, what: string): z.ZodString {
  return z.string().regex(pattern, { error: `must be ${what}` });
}

const deviceMapping = entry({ host_path: text, container_path: text }, { mode: text });
export const deviceEntry = oneOf(
  [textLike(/^[^:]+:[^:]+(:[^:]+)?$/, device), deviceMapping],
  device,
);
export const devices = z.array(deviceEntry);

export const resources = section({
  slots_per_trial: count,
  priority: z.int().min(1).max(configLimits.priorityMax),
  resource_pool: pool,
  slots: count,
  max_slots: count,
  weight: number.min(0),
  is_single_node: flag,
  shm_size: oneOf(
    [z.int().min(0), textLike(/^(\d*\.)?\d+ ?([kmgtp](i?b)?|b)?$/i, memorySize)],
    memorySize,
  ),
  devices,
  native_parallel: flag,
  agent_label: anyText,
});
