/** Events about pods, as `kubectl describe` lists them. Source: API reference, "Event" (series are counted). */
import type { KubeObject, Objects } from "../controllers/kinds.ts";

export type Recorder = (
  about: KubeObject,
  type: "Normal" | "Warning",
  reason: string,
  message: string,
) => void;

const messageCharsMax = 1_024;

/** Equal events are one object with a count. An event that cannot be stored is lost, as an event may be. */
export function recorder(objects: Objects, component: string, host?: string): Recorder {
  const names = new Map<string, string>();
  return (about, type, reason, message) => {
    const { name, namespace = "default", uid, resourceVersion } = about.metadata;
    const at = `${new Date().toISOString().slice(0, 19)}Z`;
    const key = JSON.stringify([uid, type, reason, message]);
    const known = objects.get("events", namespace, names.get(key) ?? "");
    try {
      if (known !== null) {
        const count = Number(known["count"] ?? 1) + 1;
        objects.update("events", { ...known, count, lastTimestamp: at });
        return;
      }
      const { apiVersion, kind } = about;
      const made = objects.create("events", {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "", generateName: `${name}.`, namespace },
        involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
        type,
        reason,
        message: message.slice(0, messageCharsMax),
        source: { component, ...(host === undefined ? {} : { host }) },
        reportingComponent: component,
        reportingInstance: host ?? "",
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      });
      names.set(key, made.metadata.name);
    } catch {
      // The namespace may be gone.
    }
  };
}
