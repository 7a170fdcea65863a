package io.kamille.admin.otlp;

import io.kamille.core.exchange.Trace;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.log.RequestSample;
import io.kamille.core.trace.RequestTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * Traces as an {@code ExportTraceServiceRequest} in JSON (OTLP 1.x, JSON mapping of protobuf).
 * Stateless; any thread.
 */
final class OtlpJson {

  /*
   * An exchange is a span of kind SERVER whose steps are its events. If an origin was asked, a span
   * of kind CLIENT goes from its choice to the end of its response: it is the parent of what the
   * origin records. Numbers of 64 bits are strings, as the mapping says. Queries are left out: they
   * may hold secrets, and a collector keeps them elsewhere.
   */
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int ERROR = 2;
  private static final int SERVER_ERROR = 500;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private OtlpJson() {}

  /** These traces, in UTF-8. */
  static byte[] of(List<RequestTrace> traces, String version) {
    List<Object> spans = new ArrayList<>();
    for (RequestTrace trace : traces) {
      spans.add(exchange(trace));
      if (trace.steps().stream().anyMatch(mark -> mark.step() == TraceStep.ORIGIN)) {
        spans.add(forwarded(trace));
      }
    }
    Map<String, Object> scope =
        Map.of("scope", Map.of("name", "kamille", "version", version), "spans", spans);
    Map<String, Object> resource =
        Map.of(
            "resource",
            Map.of(
                "attributes",
                List.of(
                    attribute("service.name", "kamille"), attribute("service.version", version))),
            "scopeSpans",
            List.of(scope));
    return JSON.writeValueAsBytes(Map.of("resourceSpans", List.of(resource)));
  }

  private static Map<String, Object> exchange(RequestTrace trace) {
    RequestSample request = trace.request();
    long end = request.durationNanos();
    Map<String, Object> span =
        span(trace, trace.ids().span(), trace.ids().parent(), request.method(), SERVER, 0, end);
    List<Object> attributes =
        new ArrayList<>(
            List.of(
                attribute("http.request.method", request.method()),
                attribute("url.full", request.url()),
                attribute("http.route", request.route()),
                attribute("client.address", request.client()),
                attribute("kamille.cache", request.cache()),
                number("http.response.status_code", request.status()),
                number("http.response.body.size", request.contentBytes())));
    if (!request.failure().isEmpty()) {
      attributes.add(attribute("error.type", request.failure()));
    }
    span.put("attributes", attributes);
    span.put("events", trace.steps().stream().map(mark -> event(trace, mark)).toList());
    if (request.status() >= SERVER_ERROR || !request.failure().isEmpty()) {
      span.put("status", Map.of("code", ERROR));
    }
    return span;
  }

  private static Map<String, Object> forwarded(RequestTrace trace) {
    long begin = Long.MAX_VALUE;
    long end = trace.request().durationNanos();
    for (Trace.Mark mark : trace.steps()) {
      long at = mark.nanos() - trace.startNanos();
      if (mark.step() == TraceStep.ORIGIN) {
        begin = Math.min(begin, at);
      } else if (mark.step() == TraceStep.RESPONSE_END) {
        end = at;
      }
    }
    Map<String, Object> span =
        span(
            trace,
            trace.ids().origin(),
            trace.ids().span(),
            trace.request().method(),
            CLIENT,
            begin,
            Math.max(begin, end));
    span.put("attributes", List.of(attribute("server.address", trace.request().origin())));
    return span;
  }

  /** Times are nanoseconds from the complete head of the request. */
  private static Map<String, Object> span(
      RequestTrace trace,
      String id,
      String parent,
      String name,
      int kind,
      long beginNanos,
      long endNanos) {
    Map<String, Object> span = new LinkedHashMap<>();
    span.put("traceId", trace.ids().trace());
    span.put("spanId", id);
    if (!parent.isEmpty()) {
      span.put("parentSpanId", parent);
    }
    span.put("name", name);
    span.put("kind", kind);
    span.put("startTimeUnixNano", time(trace, beginNanos));
    span.put("endTimeUnixNano", time(trace, endNanos));
    return span;
  }

  private static Map<String, Object> event(RequestTrace trace, Trace.Mark mark) {
    return Map.of(
        "timeUnixNano",
        time(trace, mark.nanos() - trace.startNanos()),
        "name",
        mark.step().token(),
        "attributes",
        List.of(attribute("detail", mark.detail())));
  }

  private static String time(RequestTrace trace, long nanos) {
    long start = Duration.ofMillis(trace.request().startEpochMillis()).toNanos();
    return Long.toString(start + nanos);
  }

  private static Map<String, Object> attribute(String name, String value) {
    return Map.of("key", name, "value", Map.of("stringValue", value));
  }

  private static Map<String, Object> number(String name, long value) {
    return Map.of("key", name, "value", Map.of("intValue", Long.toString(value)));
  }
}
