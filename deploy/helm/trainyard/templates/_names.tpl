{{/* The name of an object, from a list of the root and the part after the release's name. Pods and their labels have
longer names of it, which have at most 63 characters. */}}
{{- define "trainyard.name" -}}
{{- $name := printf "%s-%s" (index . 0).Release.Name (index . 1) }}
{{- if gt (len $name) 52 }}
{{- fail (printf "the name %s has %d characters, of 52: shorten the name of the release or of its agents." $name (len $name)) }}
{{- end }}
{{- $name }}
{{- end }}

{{/* The labels by which Services, policies and disruption budgets find pods, from a list of root and component. They have
no version, so that a pod restarts only if its own specification changes. */}}
{{- define "trainyard.selector" -}}
app.kubernetes.io/name: trainyard
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of an object, from a list of root and component. */}}
{{- define "trainyard.labels" -}}
{{ include "trainyard.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end }}

{{/* The annotations of a hook that a failed run leaves for people to read, from a list of its events and its weight. */}}
{{- define "trainyard.hook" -}}
helm.sh/hook: {{ index . 0 }}
helm.sh/hook-weight: {{ index . 1 | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* An image, from a list of the root, the target and its values. */}}
{{- define "trainyard.image" -}}
{{- $root := index . 0 }}
{{- $image := index . 2 }}
{{- $repository := $image.repository | default (printf "%s/%s" $root.Values.image.repository (index . 1)) }}
{{- if $image.digest }}
{{- printf "%s@%s" $repository $image.digest }}
{{- else }}
{{- printf "%s:%s" $repository ($image.tag | default $root.Values.image.tag | default $root.Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* The secret with the keys of the platform. */}}
{{- define "trainyard.keysSecret" -}}
{{ .Values.keys.existingSecret | default (include "trainyard.name" (list . "keys")) }}
{{- end }}

{{/* The secret and the key of a service's password for PostgreSQL, from a list of root and service. */}}
{{- define "trainyard.postgresPassword" -}}
{{- $existing := (index . 0).Values.postgres.existingSecret -}}
name: {{ $existing | default (include "trainyard.name" (list (index . 0) "keys")) }}
key: {{ if not $existing }}postgres-{{ end }}{{ index . 1 }}
{{- end }}

{{/* What the Job of keys makes, separated by commas; empty for nothing. */}}
{{- define "trainyard.madeKeys" -}}
{{- $made := list }}
{{- if not .Values.keys.existingSecret }}{{ $made = list "run-token-key" "first-token" }}{{ end }}
{{- if not .Values.postgres.existingSecret }}{{ $made = append $made "postgres" }}{{ end }}
{{- join "," $made }}
{{- end }}

{{/* The address of PostgreSQL, from a list of root and user ("USER@", or "" for a user in a variable of its own). */}}
{{- define "trainyard.postgresUrl" -}}
{{- $postgres := (index . 0).Values.postgres -}}
postgres://{{ index . 1 }}{{ $postgres.host }}:{{ $postgres.port | int }}/{{ $postgres.database }}
{{- if $postgres.sslMode }}?sslmode={{ $postgres.sslMode }}{{ end }}
{{- end }}

{{- define "trainyard.storeScheme" -}}
{{ (splitList "://" .Values.storage.blobs) | first }}
{{- end }}
