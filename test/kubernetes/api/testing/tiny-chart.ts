// A chart with the kinds and hooks that helm works with, written where a test wants it. Its Deployment is paused, so
// that no test waits for pods.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILES: Readonly<Record<string, string>> = {
  "Chart.yaml": `apiVersion: v2
name: tiny
description: A chart with hooks, for tests of the API server
version: 0.1.0
`,
  "values.yaml": `image: localhost/web:1
replicas: null
side: true
hook: false
`,
  "templates/objects.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  image: {{ .Values.image | quote }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-web
spec:
  selector:
    app: {{ .Release.Name }}
  ports:
    - name: http
      port: 80
      targetPort: http
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  {{- with .Values.replicas }}
  replicas: {{ . }}
  {{- end }}
  paused: true
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      containers:
        - name: web
          image: {{ .Values.image | quote }}
          ports:
            - name: http
              containerPort: 8080
        {{- if .Values.side }}
        - name: side
          image: localhost/side:1
        {{- end }}
`,
  "templates/hooks.yaml": `{{- if .Values.hook }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-keys
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: keys
          image: localhost/keys:1
{{- end }}
`,
};

export async function writeTinyChart(folder: string): Promise<void> {
  await mkdir(join(folder, "templates"), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
}
