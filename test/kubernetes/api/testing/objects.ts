// Small objects for tests.
import type { KubeObject } from "../object-store.ts";

export const configMap = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

export const deployment = (name: string, image: string): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [{ name: "main", image, env: [{ name: "A", value: "1" }] }],
      },
    },
  },
});
