{{- define "kamille.labels" -}}
{app.kubernetes.io/name: kamille, app.kubernetes.io/instance: {{ .Release.Name }}}
{{- end }}

{{- define "kamille.domain" -}}
{{ .Release.Name }}-nodes.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}

{{- /* The file of one node. It does not tell how many there are. */}}
{{- define "kamille.file" -}}
{{- $release := .root.Release.Name }}
{{- $domain := include "kamille.domain" .root }}
{{- $node := printf "%s-%d" $release .number }}
{{- $voters := list }}
{{- range until (int .root.Values.voters) }}
{{- $voters = append $voters (printf "%s-%d" $release .) }}
{{- end }}
{{- .root.Values.configuration | trim }}
cluster:
  name: {{ $release }}
  node: {{ $node }}
  voters: [{{ join ", " $voters }}]
  # A pod finds its own name in its file of hosts, so before the DNS has it.
  address: {{ $node }}.{{ $domain }}:7800
  discovery: {dns: {{ $domain }}}
  tls:
    certificate: /etc/kamille-cluster/{{ $node }}.pem
    key: /etc/kamille-cluster/{{ $node }}.key
    ca: /etc/kamille-cluster/ca.pem
  secret-file: /etc/kamille-cluster/cluster.secret
  # The file is read-only: "helm upgrade" changes it for all nodes.
  config: local
  peers: {address: "{{ $node }}.{{ $domain }}:7801"}
{{- end }}
