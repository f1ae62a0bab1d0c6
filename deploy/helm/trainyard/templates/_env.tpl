{{/* The variables of every process, from a list of the root and the level of its logs. */}}
{{- define "trainyard.env.process" -}}
- {name: TRAINYARD_HTTP_HOST, value: "0.0.0.0"}
- {name: TRAINYARD_HTTP_PORT, value: "8080"}
- {name: TRAINYARD_LOG_LEVEL, value: {{ .Values.logLevel | quote }}}
- {name: TRAINYARD_NATS_URL, value: {{ .Values.nats.url | quote }}}
{{- include "trainyard.env.certificates" . }}
{{- end }}

{{- define "trainyard.env.certificates" -}}
{{- if .Values.certificates.configMap }}
- {name: NODE_EXTRA_CA_CERTS, value: /etc/trainyard/certificates/{{ .Values.certificates.key }}}
{{- end }}
{{- end }}

{{/* The variables of a service, from a list of root and service. */}}
{{- define "trainyard.env.service" -}}
{{- $root := index . 0 }}
{{- $service := index . 1 }}
{{- $needs := (index (index . 2) $service).needs }}
{{- $keys := include "trainyard.keysSecret" $root }}
{{- include "trainyard.env.process" $root }}
- name: TRAINYARD_POSTGRES_URL
  value: {{ include "trainyard.postgresUrl" (list $root (printf "ty_%s@" ($service | replace "-" "_"))) | quote }}
- name: TRAINYARD_POSTGRES_PASSWORD
  valueFrom:
    secretKeyRef:
      {{- include "trainyard.postgresPassword" (list $root $service) | nindent 6 }}
{{- if $root.Values.nats.existingSecret }}
- {name: TRAINYARD_NATS_USER, value: {{ $service }}}
- name: TRAINYARD_NATS_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ $root.Values.nats.existingSecret }}, key: {{ $service }}}
{{- end }}
{{- if has "grpc" $needs }}
- {name: TRAINYARD_GRPC_PORT, value: "9090"}
{{- end }}
{{- if has "run-token" $needs }}
- name: TRAINYARD_RUN_TOKEN_KEY
  valueFrom:
    secretKeyRef: {name: {{ $keys }}, key: run-token-key}
- {name: TRAINYARD_RUN_TOKEN_KEY_ID, value: {{ $root.Values.keys.runTokenKeyId | quote }}}
{{- end }}
{{- if has "other-run-tokens" $needs }}
- name: TRAINYARD_RUN_TOKEN_OTHER_KEYS
  valueFrom:
    secretKeyRef: {name: {{ $keys }}, key: run-token-other-keys, optional: true}
{{- end }}
{{- include "trainyard.env.stores" (list $root $needs) }}
{{- if has "first-token" $needs }}
- {name: TRAINYARD_FIRST_TOKEN_FILE, value: /etc/trainyard/first-token/first-token}
{{- end }}
{{- if has "peers" $needs }}
- name: POD_IP
  valueFrom:
    fieldRef: {fieldPath: status.podIP}
- {name: TRAINYARD_GATEWAY_PEER_URL, value: "http://$(POD_IP):8080"}
{{- end }}
{{- if and (has "redis" $needs) $root.Values.redis.existingSecret }}
- name: TRAINYARD_REDIS_URL
  valueFrom:
    secretKeyRef: {name: {{ $root.Values.redis.existingSecret }}, key: {{ $root.Values.redis.urlKey }}}
{{- end }}
{{- if has "pages" $needs }}
{{- with $root.Values.taskDomain }}
- {name: TRAINYARD_TASK_DOMAIN, value: {{ . | quote }}}
{{- end }}
{{- with $root.Values.ingress.trustedProxies }}
- {name: TRAINYARD_TRUSTED_PROXIES, value: {{ join "," . | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{/* The stores of a service and their credentials, from a list of root and needs. */}}
{{- define "trainyard.env.stores" -}}
{{- $root := index . 0 }}
{{- $needs := index . 1 }}
{{- $storage := $root.Values.storage }}
{{- $isS3 := eq (include "trainyard.storeScheme" $root) "s3" }}
{{- if has "blobs" $needs }}
- {name: TRAINYARD_BLOB_STORAGE, value: {{ $storage.blobs | quote }}}
{{- if and $isS3 $storage.endpoint }}
- {name: TRAINYARD_BLOB_STORAGE_ENDPOINT, value: {{ $storage.endpoint | quote }}}
{{- end }}
{{- end }}
{{- if has "checkpoints" $needs }}
- {name: TRAINYARD_CHECKPOINT_STORAGE, value: {{ $storage.checkpoints | quote }}}
{{- if and $isS3 $storage.endpoint }}
- {name: TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT, value: {{ $storage.endpoint | quote }}}
{{- end }}
{{- end }}
{{- if has "checkpoint-folder" $needs }}
- {name: TRAINYARD_CHECKPOINT_DIR, value: /tmp/checkpoints}
{{- end }}
{{- if and (has "stores" $needs) $isS3 $storage.endpoint }}
- {name: TRAINYARD_STORAGE_ENDPOINTS, value: {{ $storage.endpoint | quote }}}
{{- end }}
{{- if include "trainyard.readsStore" $needs }}
{{- if and $isS3 $storage.region }}
- {name: TRAINYARD_STORAGE_REGION, value: {{ $storage.region | quote }}}
{{- end }}
{{- if and (not $isS3) $storage.endpoint }}
- {name: TRAINYARD_STORAGE_GCS_ENDPOINT, value: {{ $storage.endpoint | quote }}}
{{- end }}
{{- if and $isS3 $storage.existingSecret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef: {name: {{ $storage.existingSecret }}, key: access-key-id}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef: {name: {{ $storage.existingSecret }}, key: secret-access-key}
{{- else if $storage.existingSecret }}
- {name: GOOGLE_APPLICATION_CREDENTIALS, value: /etc/trainyard/storage/credentials.json}
{{- end }}
{{- end }}
{{- end }}

{{- define "trainyard.readsStore" -}}
{{- if or (has "blobs" .) (has "stores" .) }}true{{ end }}
{{- end }}

{{/* The variables of an agent, from a list of the root, the name of its set and the set's values. */}}
{{- define "trainyard.env.agent" -}}
{{- $root := index . 0 }}
{{- $set := include "trainyard.name" (list $root (printf "agent-%s" (index . 1))) }}
{{- $agent := index . 2 }}
{{- include "trainyard.env.process" $root }}
- name: TRAINYARD_AGENT_NAME
  valueFrom:
    fieldRef: {fieldPath: metadata.name}
- {name: TRAINYARD_AGENT_ADDRESS, value: "$(TRAINYARD_AGENT_NAME).{{ $set }}.{{ $root.Release.Namespace }}.svc"}
- {name: TRAINYARD_AGENT_DIR, value: /var/lib/trainyard}
- {name: TRAINYARD_AGENT_RUNTIME, value: process}
- {name: TRAINYARD_AGENT_SLOT_TYPE, value: {{ $agent.slotType }}}
{{- if eq $agent.slotType "cpu" }}
- {name: TRAINYARD_AGENT_SLOTS, value: {{ $agent.slots | int | quote }}}
{{- end }}
{{- with $agent.labels }}
- {name: TRAINYARD_AGENT_LABELS, value: {{ include "trainyard.pairs" . | quote }}}
{{- end }}
- {name: TRAINYARD_POOL, value: {{ $agent.pool | quote }}}
- {name: TRAINYARD_API_URL, value: "http://{{ include "trainyard.name" (list $root "gateway") }}:8080"}
- {name: TRAINYARD_METRICS_URL, value: "http://{{ include "trainyard.name" (list $root "metrics") }}:8080"}
{{- if $root.Values.nats.existingSecret }}
- {name: TRAINYARD_NATS_USER, value: "agent-$(TRAINYARD_AGENT_NAME)"}
- {name: TRAINYARD_NATS_PASSWORD_FILE, value: /etc/trainyard/nats/password}
{{- end }}
{{- end }}

{{/* A map as KEY=VALUE, separated by commas; its keys are sorted. */}}
{{- define "trainyard.pairs" -}}
{{- range $index, $key := keys . | sortAlpha }}{{ if $index }},{{ end }}{{ $key }}={{ index $ $key }}{{ end }}
{{- end }}

{{/* The variables of `migrate`, which sets the password of each role, from a list of the root and the table of services. */}}
{{- define "trainyard.env.migrate" -}}
{{- $root := index . 0 }}
{{- $admin := $root.Values.postgres.adminSecret -}}
- {name: TRAINYARD_POSTGRES_ADMIN_URL, value: {{ include "trainyard.postgresUrl" (list $root "") | quote }}}
- name: TRAINYARD_POSTGRES_ADMIN_USER
  valueFrom:
    secretKeyRef: {name: {{ $admin.name }}, key: {{ $admin.userKey }}}
- name: TRAINYARD_POSTGRES_ADMIN_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ $admin.name }}, key: {{ $admin.passwordKey }}}
{{- range $name := keys (index . 1) | sortAlpha }}
- name: TRAINYARD_POSTGRES_PASSWORD_{{ $name | upper | replace "-" "_" }}
  valueFrom:
    secretKeyRef:
      {{- include "trainyard.postgresPassword" (list $root $name) | nindent 6 }}
{{- end }}
{{- include "trainyard.env.certificates" $root }}
{{- end }}
