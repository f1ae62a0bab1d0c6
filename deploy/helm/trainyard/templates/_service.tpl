{{/* Everything of one service, from a list of the root, its name, its values and the table of services. */}}
{{- define "trainyard.service" }}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $service := index . 2 }}
{{- $table := index . 3 }}
{{- $full := include "trainyard.name" (list $root $name) }}
{{- $needs := (index $table $name).needs }}
{{- $grpc := has "grpc" $needs }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "trainyard.labels" (list $root $name) | nindent 4 }}
spec:
  replicas: {{ if $root.Values.stopped }}0{{ else }}{{ $service.replicas | int }}{{ end }}
  revisionHistoryLimit: 3
  # helm gives up a Deployment that has failed. A new version may first build its read model again.
  progressDeadlineSeconds: 3600
  # The new pod is ready, and is a standby, before the old one gives its lease away.
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  selector:
    matchLabels:
      {{- include "trainyard.selector" (list $root $name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "trainyard.selector" (list $root $name) | nindent 8 }}
      {{- with $service.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      {{- include "trainyard.pod" (list $root $service) | nindent 6 }}
      terminationGracePeriodSeconds: {{ $service.terminationGracePeriodSeconds | int }}
      {{- with include "trainyard.spread" (list $root $name $service) }}
      {{- . | trim | nindent 6 }}
      {{- end }}
      containers:
        - name: {{ $name }}
          image: {{ include "trainyard.image" (list $root $name $service.image) | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          ports:
            - {name: http, containerPort: 8080, protocol: TCP}
            {{- if $grpc }}
            - {name: grpc, containerPort: 9090, protocol: TCP}
            {{- end }}
          env:
            {{- include "trainyard.env" (list (include "trainyard.env.service" (list $root $name $table)) $service.extraEnv (printf "services.%s" $name)) | nindent 12 }}
          {{- include "trainyard.probes" (has "answers-while-away" $needs) | nindent 10 }}
          {{- if semverCompare ">=1.30-0" $root.Capabilities.KubeVersion.Version }}
          # A pod that ends is still asked until every node has forgotten its address. Kubernetes 1.29 cannot wait.
          lifecycle:
            preStop:
              sleep: {seconds: 5}
          {{- end }}
          resources:
            {{- toYaml $service.resources | nindent 12 }}
          {{- include "trainyard.container" . | nindent 10 }}
          volumeMounts:
            {{- include "trainyard.mounts" $root | nindent 12 }}
            {{- if has "first-token" $needs }}
            - {name: first-token, mountPath: /etc/trainyard/first-token, readOnly: true}
            {{- end }}
            {{- if include "trainyard.readsStoreFile" (list $root $needs) }}
            - {name: storage, mountPath: /etc/trainyard/storage, readOnly: true}
            {{- end }}
      volumes:
        # A gateway spools submissions, of at most 264 MiB at once; the others write nothing there.
        {{- include "trainyard.volumes" (list $root "1Gi") | nindent 8 }}
        {{- if has "first-token" $needs }}
        {{- include "trainyard.secretFile" (list "first-token" (include "trainyard.keysSecret" $root) "first-token") | nindent 8 }}
        {{- end }}
        {{- if include "trainyard.readsStoreFile" (list $root $needs) }}
        {{- include "trainyard.secretFile" (list "storage" $root.Values.storage.existingSecret "credentials.json") | nindent 8 }}
        {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "trainyard.labels" (list $root $name) | nindent 4 }}
    trainyard.dev/scraped: "true"
spec:
  type: ClusterIP
  selector:
    {{- include "trainyard.selector" (list $root $name) | nindent 4 }}
  ports:
    {{- include "trainyard.ports" $grpc | nindent 4 }}
{{- if $grpc }}
---
# For clients of gRPC inside of the cluster, which balance their calls over the addresses of the pods.
apiVersion: v1
kind: Service
metadata:
  name: {{ $full }}-pods
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "trainyard.labels" (list $root $name) | nindent 4 }}
spec:
  type: ClusterIP
  clusterIP: None
  selector:
    {{- include "trainyard.selector" (list $root $name) | nindent 4 }}
  ports:
    {{- include "trainyard.ports" $grpc | nindent 4 }}
{{- end }}
{{- if gt ($service.replicas | int) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "trainyard.labels" (list $root $name) | nindent 4 }}
spec:
  maxUnavailable: 1
  # Pods that are not ready, because PostgreSQL or NATS is away, never hold up the drain of a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "trainyard.selector" (list $root $name) | nindent 6 }}
{{- end }}
{{- end }}

{{/* The ports of a Service; true with gRPC. */}}
{{- define "trainyard.ports" -}}
- {name: http, port: 8080, targetPort: http, protocol: TCP, appProtocol: http}
{{- if . }}
- {name: grpc, port: 9090, targetPort: grpc, protocol: TCP, appProtocol: kubernetes.io/h2c}
{{- end }}
{{- end }}

{{/* How replicas spread, from a list of the root, the service and its values. */}}
{{- define "trainyard.spread" -}}
{{- $selector := dict "matchLabels" (include "trainyard.selector" (list (index . 0) (index . 1)) | fromYaml) }}
{{- $service := index . 2 }}
{{- $byNode := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" }}
{{- $wanted := $service.topologySpreadConstraints }}
{{- if and (not $wanted) (gt ($service.replicas | int) 1) }}{{ $wanted = list $byNode }}{{ end }}
{{- with $wanted }}
topologySpreadConstraints:
  {{- range . }}
  - {{- mustMerge (dict "labelSelector" $selector) . | toYaml | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Whether a service has the credentials of the store in a file, from a list of root and needs. */}}
{{- define "trainyard.readsStoreFile" -}}
{{- $root := index . 0 }}
{{- if and $root.Values.storage.existingSecret (eq (include "trainyard.storeScheme" $root) "gs") (include "trainyard.readsStore" (index . 1)) }}true{{ end }}
{{- end }}
