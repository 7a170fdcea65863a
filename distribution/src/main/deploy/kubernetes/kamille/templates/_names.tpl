{{- define "kamille.labels" -}}
{app.kubernetes.io/name: kamille, app.kubernetes.io/instance: {{ .Release.Name }}}
{{- end }}

{{- define "kamille.domain" -}}
{{ .Release.Name }}-nodes.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}
