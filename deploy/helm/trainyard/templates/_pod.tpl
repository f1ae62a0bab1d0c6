{{/* What every pod has, from a list of the root and the values of its placement. Kubernetes would otherwise set a
variable of each Service, some of which have names that look like settings. */}}
{{- define "trainyard.pod" -}}
{{- $root := index . 0 }}
{{- $values := index . 1 -}}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* What every container may: nothing but its own work, in folders that are mounted. */}}
{{- define "trainyard.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The probes of a process, from whether it answers while PostgreSQL or NATS is away. Nothing is restarted for a server
that is away. Such a process is ready from its first /readyz on: if the addresses of all gateways were taken away with
NATS, nobody would get what they can still read, nor the reason for the rest. Its start may wait a day. */}}
{{- define "trainyard.probes" -}}
startupProbe:
  httpGet: {path: {{ ternary "/readyz" "/livez" . }}, port: http}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: {{ ternary 86400 120 . }}
livenessProbe:
  httpGet: {path: /livez, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: {{ ternary "/livez" "/readyz" . }}, port: http}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{/* The variables of a container: those of the chart, and then the person's. */}}
{{- define "trainyard.env" -}}
{{- $own := index . 0 | fromYamlArray }}
{{- range $own }}
{{- if hasKey . "Error" }}{{ fail .Error }}{{ end }}
{{- end }}
{{- $place := index . 2 }}
{{- $names := dict }}
{{- range $own }}{{ $_ := set $names .name true }}{{ end }}
{{- range index . 1 }}
{{- if hasKey $names .name }}
{{- fail (printf "%s.extraEnv has %s, which is set already: leave it out, or change the value of the chart that it comes from." $place .name) }}
{{- end }}
{{- $_ := set $names .name true }}
{{- end }}
{{- toYaml (concat $own (index . 1)) }}
{{- end }}

{{/* Folders that every container of services and agents has. */}}
{{- define "trainyard.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.certificates.configMap }}
- {name: certificates, mountPath: /etc/trainyard/certificates, readOnly: true}
{{- end }}
{{- end }}

{{/* /tmp, of a size; empty for no limit. A pod that has more there is evicted, before it fills the disk of its node. */}}
{{- define "trainyard.tmp" -}}
- name: tmp
  emptyDir: {{ with . }}{sizeLimit: {{ . | quote }}}{{ else }}{}{{ end }}
{{- end }}

{{/* From a list of the root and the size of /tmp. */}}
{{- define "trainyard.volumes" -}}
{{- $root := index . 0 }}
{{- include "trainyard.tmp" (index . 1) }}
{{- with $root.Values.certificates }}
{{- if .configMap }}
- name: certificates
  configMap:
    name: {{ .configMap }}
    items:
      - {key: {{ .key }}, path: {{ .key }}}
{{- end }}
{{- end }}
{{- end }}

{{/* A file of a secret, from a list of the volume's name, the secret and its key. */}}
{{- define "trainyard.secretFile" -}}
- name: {{ index . 0 }}
  secret:
    secretName: {{ index . 1 }}
    defaultMode: 0440
    items:
      - {key: {{ index . 2 }}, path: {{ index . 2 }}}
{{- end }}
