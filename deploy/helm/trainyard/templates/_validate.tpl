{{/* The rules that values.schema.json cannot have. Each refusal is one sentence that names the value. */}}
{{- define "trainyard.validate" }}
{{- $table := .Files.Get "files/services.yaml" | fromYaml }}
{{- if not .Values.postgres.host }}
{{- fail "postgres.host is not set: name the host of your PostgreSQL." }}
{{- end }}
{{- if not .Values.nats.url }}
{{- fail "nats.url is not set: name your NATS, such as nats://nats:4222." }}
{{- end }}
{{- range $store := list "blobs" "checkpoints" }}
{{- if not (index $.Values.storage $store) }}
{{- fail (printf "storage.%s is not set: name a store, such as s3://bucket/%s, because services and agents of a cluster share no folder." $store $store) }}
{{- end }}
{{- end }}
{{- if ne (splitList "://" .Values.storage.blobs | first) (splitList "://" .Values.storage.checkpoints | first) }}
{{- fail "storage.blobs and storage.checkpoints are of two kinds: both must be s3://, or both gs://." }}
{{- end }}
{{- if and .Values.migrate.enabled (not .Values.postgres.adminSecret.name) }}
{{- fail "postgres.adminSecret.name is not set: name the secret with PostgreSQL's administrator for `migrate`, or set migrate.enabled to false and run it yourself." }}
{{- end }}
{{- if and (not .Values.migrate.enabled) (include "trainyard.madeKeys" .) }}
{{- fail "migrate.enabled is false, so no Job makes keys and passwords: set keys.existingSecret and postgres.existingSecret." }}
{{- end }}
{{- range $name := keys $table | sortAlpha }}
{{- $service := mustMergeOverwrite (deepCopy $.Values.serviceDefaults) (deepCopy (index $.Values.services $name | default dict)) }}
{{- $optional := (index $table $name).optional }}
{{- if not (or $optional $service.enabled) }}
{{- fail (printf "services.%s.enabled is false, but agents and people need this service: only feeds and checkpoint-gc can be left out." $name) }}
{{- end }}
{{- if and $service.enabled (lt ($service.replicas | int) 1) }}
{{- fail (printf "services.%s.replicas is 0: set stopped to true to stop all services%s." $name (ternary ", or enabled to false to leave this one out" "" (eq $optional true))) }}
{{- end }}
{{- include "trainyard.validateImage" (list (printf "services.%s" $name) $service.image) }}
{{- if lt ($service.terminationGracePeriodSeconds | int) 20 }}
{{- fail (printf "services.%s.terminationGracePeriodSeconds is %d: a service needs up to 15 s to stop, so it must be at least 20." $name ($service.terminationGracePeriodSeconds | int)) }}
{{- end }}
{{- end }}
{{- include "trainyard.validateImage" (list "migrate" .Values.migrate.image) }}
{{- range $name, $values := .Values.agents }}
{{- include "trainyard.validateAgent" (list $name (mustMergeOverwrite (deepCopy $.Values.agentDefaults) (deepCopy $values))) }}
{{- end }}
{{- include "trainyard.validateHosts" . }}
{{- end }}

{{- define "trainyard.validateImage" }}
{{- $image := index . 1 }}
{{- if and $image.tag $image.digest }}
{{- fail (printf "%s.image has both a tag and a digest: set one of them." (index . 0)) }}
{{- end }}
{{- end }}

{{- define "trainyard.validateAgent" }}
{{- $name := index . 0 }}
{{- $agent := index . 1 }}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $name) }}
{{- fail (printf "agents.%s is no name of pods: use lower-case letters, digits and -." $name) }}
{{- end }}
{{- include "trainyard.validateImage" (list (printf "agents.%s" $name) $agent.image) }}
{{- if lt ($agent.slots | int) 1 }}
{{- fail (printf "agents.%s.slots is not set: say how many slots each of these agents has." $name) }}
{{- end }}
{{- if lt ($agent.terminationGracePeriodSeconds | int) 35 }}
{{- fail (printf "agents.%s.terminationGracePeriodSeconds is %d: an agent needs up to 30 s to end its runs, so it must be at least 35." $name ($agent.terminationGracePeriodSeconds | int)) }}
{{- end }}
{{- range $type, $resource := dict "cuda" "nvidia.com/gpu" "rocm" "amd.com/gpu" }}
{{- $gpus := dig "limits" $resource 0 $agent.resources | int }}
{{- if and (eq $type $agent.slotType) (ne $gpus ($agent.slots | int)) }}
{{- fail (printf "agents.%s has %d slots of %s, but its resources.limits have %d of %s: they must be the same number." $name ($agent.slots | int) $type $gpus $resource) }}
{{- end }}
{{- if and (ne $type $agent.slotType) $gpus }}
{{- fail (printf "agents.%s has %d of %s, but its slotType is %s: set it to %s." $name $gpus $resource $agent.slotType $type) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The pages of tasks need a host on which nothing of the platform is. */}}
{{- define "trainyard.validateHosts" }}
{{- $domain := .Values.taskDomain }}
{{- $ingress := .Values.ingress }}
{{- if $domain }}
{{- range $route := list "api" "grpc" "metrics" "metricsGrpc" }}
{{- $host := (index $ingress $route).host }}
{{- if and $host (or (eq $host $domain) (hasSuffix (printf ".%s" $domain) $host) (hasSuffix (printf ".%s" $host) $domain)) }}
{{- fail (printf "taskDomain %s and ingress.%s.host %s are one domain, or one is below the other: pages of tasks need a domain that is used for nothing else." $domain $route $host) }}
{{- end }}
{{- end }}
{{- end }}
{{- $routes := dict }}
{{- range $route := list "api" "grpc" "metrics" "metricsGrpc" }}
{{- $host := (index $ingress $route).host }}
{{- if and $host (hasKey $routes $host) }}
{{- fail (printf "ingress.%s.host and ingress.%s.host are both %s: each route needs a host of its own." (get $routes $host) $route $host) }}
{{- end }}
{{- $_ := set $routes $host $route }}
{{- end }}
{{- if and $ingress.enabled (not $ingress.api.host) }}
{{- fail "ingress.enabled is true, but ingress.api.host is not set: name the host of the API and the Web UI." }}
{{- end }}
{{- end }}
