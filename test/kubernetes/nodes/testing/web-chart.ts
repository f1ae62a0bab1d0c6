/** A chart with what waits for pods: a hook, a Deployment, a StatefulSet with a claim, and a test. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { server, testImage } from "./pod-world.ts";

const metadata = (name: string, annotations: object = {}) => ({
  name: `{{ .Release.Name }}-${name}`,
  labels: { app: `{{ .Release.Name }}-${name}` },
  annotations,
});

const selector = (name: string) => ({ app: `{{ .Release.Name }}-${name}` });

const container = (script: string, more: object = {}) => ({
  name: "main",
  image: testImage,
  imagePullPolicy: "Never",
  command: ["sh", "-c", script],
  ...more,
});

const workload = (name: string, main: object, more: object = {}) => ({
  apiVersion: "apps/v1",
  metadata: metadata(name),
  spec: {
    selector: { matchLabels: selector(name) },
    template: {
      metadata: { labels: selector(name) },
      spec: { terminationGracePeriodSeconds: 2, containers: [main] },
    },
    ...more,
  },
});

const web = container(server, {
  env: [{ name: "VERSION", value: "{{ .Values.version }}" }],
  ports: [{ name: "http", containerPort: 8080 }],
  readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
});

const data = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
};

const test = `exec python3 -c '
import urllib.request
print("answered:", urllib.request.urlopen("http://{{ .Release.Name }}-web", timeout=5).status)
'`;

const templates: Readonly<Record<string, object>> = {
  hook: {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata("hook", {
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    }),
    spec: {
      backoffLimit: 0,
      template: {
        spec: { restartPolicy: "Never", containers: [container("exit {{ .Values.hookCode }}")] },
      },
    },
  },
  service: {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata("web"),
    spec: { selector: selector("web"), ports: [{ name: "http", port: 80, targetPort: "http" }] },
  },
  web: { kind: "Deployment", ...workload("web", web) },
  db: {
    kind: "StatefulSet",
    ...workload("db", container("trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"), {
      serviceName: "{{ .Release.Name }}-db",
      volumeClaimTemplates: [data],
    }),
  },
  test: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata("test", { "helm.sh/hook": "test" }),
    spec: { restartPolicy: "Never", containers: [container(test)] },
  },
};

export function writeWebChart(folder: string): void {
  mkdirSync(join(folder, "templates"), { recursive: true });
  const about = { apiVersion: "v2", name: "web", version: "0.1.0" };
  writeFileSync(join(folder, "Chart.yaml"), JSON.stringify(about));
  writeFileSync(join(folder, "values.yaml"), JSON.stringify({ version: "1", hookCode: 0 }));
  for (const [name, object] of Object.entries(templates)) {
    writeFileSync(join(folder, "templates", `${name}.yaml`), JSON.stringify(object));
  }
}
