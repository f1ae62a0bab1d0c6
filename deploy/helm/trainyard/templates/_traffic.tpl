{{/* Whether a name of files/traffic.yaml has pods, from a list of root and name. */}}
{{- define "trainyard.hasPods" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- if eq $name "agents" }}
{{- if $root.Values.agents }}true{{ end }}
{{- else if eq $name "test" }}
{{- if $root.Values.test.enabled }}true{{ end }}
{{- else if (mustMergeOverwrite (deepCopy $root.Values.serviceDefaults) (deepCopy (index $root.Values.services $name | default dict))).enabled }}true{{ end }}
{{- end }}

{{/* The selector of the pods of a name, from a list of root and name. */}}
{{- define "trainyard.podsOf" -}}
matchLabels:
{{- if eq (index . 1) "agents" }}
  app.kubernetes.io/name: trainyard
  app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
  trainyard.dev/agent: "true"
{{- else }}
  {{- include "trainyard.selector" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What pods accept, from a list of the root, their name and the table: what others of the table connect to. */}}
{{- define "trainyard.ingressRules" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $traffic := index . 2 }}
{{- $rules := list }}
{{- range $from, $places := $traffic.pods }}
{{- range $place := $places }}
{{- if and (hasPrefix (printf "%s:" $name) $place) (include "trainyard.hasPods" (list $root $from)) }}
{{- $pods := dict "podSelector" (include "trainyard.podsOf" (list $root $from) | fromYaml) }}
{{- $rules = append $rules (merge (dict "from" (list $pods)) (include "trainyard.portsOf" $place | fromYaml)) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $from, $places := $traffic.others }}
{{- $peers := index $root.Values.networkPolicies $from }}
{{- range $place := $places }}
{{- if hasPrefix (printf "%s:" $name) $place }}
{{- $rule := include "trainyard.portsOf" $place | fromYaml }}
{{- $rules = append $rules (empty $peers | ternary $rule (merge (dict "from" $peers) $rule)) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{/* The ports of a place such as gateway:grpc; none for all. */}}
{{- define "trainyard.portsOf" -}}
{{- $port := splitList ":" . | last }}
{{- if ne $port "*" }}
ports:
  - {protocol: TCP, port: {{ $port }}}
{{- end }}
{{- end }}

{{/* What pods open, from a list of root and places. The names of all places are looked up. */}}
{{- define "trainyard.egressRules" -}}
{{- $root := index . 0 }}
{{- $policies := $root.Values.networkPolicies }}
{{- $rules := list }}
{{- if has "anywhere" (index . 1) }}
{{- $rules = list dict }}
{{- else }}
{{- $rules = list (dict "ports" (list (dict "protocol" "UDP" "port" 53) (dict "protocol" "TCP" "port" 53))) }}
{{- range $place := index . 1 }}
{{- if contains ":" $place }}
{{- $pods := dict "podSelector" (include "trainyard.podsOf" (list $root (splitList ":" $place | first)) | fromYaml) }}
{{- $rules = append $rules (merge (dict "to" (list $pods)) (include "trainyard.portsOf" $place | fromYaml)) }}
{{- else if or (ne $place "redis") $root.Values.redis.existingSecret }}
{{- $rule := include (printf "trainyard.outside.%s" $place) $root | fromYaml }}
{{- $peers := index $policies $place }}
{{- $rules = append $rules (empty $peers | ternary $rule (merge (dict "to" $peers) $rule)) }}
{{- if and (eq $place "storage") (not $root.Values.storage.existingSecret) }}
{{- $rules = append $rules (include "trainyard.outside.metadata" $root | fromYaml) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{/* Where clouds give pods and nodes their credentials: 80 is Amazon's and Google's, 988 that of GKE's nodes. */}}
{{- define "trainyard.outside.metadata" -}}
to: [{ipBlock: {cidr: 169.254.0.0/16}}]
ports: [{protocol: TCP, port: 80}, {protocol: TCP, port: 988}]
{{- end }}
{{- define "trainyard.outside.postgres" -}}
ports: [{protocol: TCP, port: {{ .Values.postgres.port | int }}}]
{{- end }}
{{- define "trainyard.outside.nats" -}}
ports:
{{- range splitList "," .Values.nats.url }}
  - {protocol: TCP, port: {{ include "trainyard.port" (list . 4222) }}}
{{- end }}
{{- end }}
{{- define "trainyard.outside.storage" -}}
ports: [{protocol: TCP, port: {{ include "trainyard.port" (list .Values.storage.endpoint (hasPrefix "http:" .Values.storage.endpoint | ternary 80 443)) }}}]
{{- end }}
{{- define "trainyard.outside.redis" -}}
ports: [{protocol: TCP, port: {{ .Values.networkPolicies.redisPort | int }}}]
{{- end }}
{{- define "trainyard.outside.identity" -}}
ports: [{protocol: TCP, port: {{ .Values.networkPolicies.identityPort | int }}}]
{{- end }}
{{- define "trainyard.outside.traces" -}}
ports: [{protocol: TCP, port: {{ .Values.networkPolicies.tracesPort | int }}}]
{{- end }}

{{/* The port of an address, from a list of the address and the port of one that has none. */}}
{{- define "trainyard.port" -}}
{{- regexFind ":[0-9]+/?$" (index . 0 | trim) | trimPrefix ":" | trimSuffix "/" | default (index . 1 | toString) }}
{{- end }}
