package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Trace;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How an exchange that is over becomes a line. Confined to its loop. */
abstract class LineFormat {

  /*
   * The loop itself makes the line, of octets where they lie, and allocates nothing. A value is
   * found first, cut at its limit, and then written in the way of the format.
   */
  /** How many octets of a value that is added are kept. */
  static final int ADDED_LIMIT = 1024;

  private static final byte[] COMMA = {',', ' '};

  final LineBuffer out = new LineBuffer(1 << 10);
  final List<LoggedField> added;
  private final Set<Text> removed = EnumSet.noneOf(Text.class);
  private final boolean hasClient;
  private final ClientAddresses clients;
  private final FieldDigest digest;
  private final LineBuffer made = new LineBuffer(1 << 10);
  private final DateTimeFormatter pattern;
  private long second = Long.MIN_VALUE;
  private byte[] stamp = {};
  private byte[] octets = {};
  private int start;
  private int end;
  private boolean isCut;

  /** The texts of an exchange, and how many octets of each are kept. */
  enum Text {
    METHOD(64),
    TARGET(8192),
    AUTHORITY(256),
    REFERER(2048),
    USER_AGENT(1024),
    ROUTE(256),
    ORIGIN(256),
    REASON(256);

    final int limit;

    Text(int limit) {
      this.limit = limit;
    }
  }

  /**
   * The format of these settings.
   *
   * @param pattern of the second when a request came, for {@link DateTimeFormatter}
   */
  LineFormat(AccessLogSettings settings, FieldDigest digest, String pattern) {
    this.pattern = DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneOffset.UTC);
    List<String> names = settings.fields().remove();
    for (Text text : Text.values()) {
      if (names.contains(text.name().toLowerCase(Locale.ROOT).replace('_', '-'))) {
        removed.add(text);
      }
    }
    hasClient = !names.contains("client");
    added = settings.fields().add();
    clients = new ClientAddresses(settings.client());
    this.digest = digest;
  }

  /** The line with its line feed, valid until the next one. */
  final LineBuffer line(
      Exchange exchange, int status, long contentBytes, long startEpochMicros, long nanos) {
    out.clear();
    append(exchange, status, contentBytes, startEpochMicros, nanos);
    return out.octet('\n');
  }

  /** Appends the line to {@link #out}. */
  abstract void append(
      Exchange exchange, int status, long contentBytes, long startEpochMicros, long nanos);

  /** Appends an octet that is not printable ASCII, or several; tells where the next one is. */
  abstract int appendOther(byte[] octets, int start, int end);

  /** Appends the value that was found, escaped so that it stays on the line whatever it is. */
  final void appendFound() {
    int plain = start;
    for (int i = start; i < end; ) {
      byte octet = octets[i];
      if (octet >= ' ' && octet != '"' && octet != '\\' && octet != 0x7f) {
        i++;
        continue;
      }
      out.octets(octets, plain, i);
      plain = i;
      if (octet == '"' || octet == '\\') {
        out.octet('\\');
        i++;
      } else {
        i = appendOther(octets, i, end);
        plain = i;
      }
    }
    out.octets(octets, plain, end);
    if (isCut) {
      out.ascii("...");
    }
  }

  /** Appends the second in universal time, whose text is made once. */
  final LineBuffer appendSecond(long epochMicros) {
    long now = Math.floorDiv(epochMicros, 1_000_000L);
    if (now != second) {
      second = now;
      stamp = pattern.format(Instant.ofEpochSecond(now)).getBytes(StandardCharsets.US_ASCII);
    }
    return out.octets(stamp);
  }

  static void appendVersion(RequestHead request, LineBuffer out) {
    out.ascii("HTTP/");
    if (request.majorVersion() == 2) {
      out.ascii("2.0");
    } else {
      out.ascii("1.").decimal(request.minorVersion());
    }
  }

  /** Empty if it is not known or not shown. */
  final byte[] client(Exchange exchange) {
    return hasClient ? clients.textOf(exchange.client()) : ClientAddresses.UNKNOWN;
  }

  /** Empty if the route has no cache. */
  static String cacheResult(ExchangeNotes notes) {
    return notes.cache() == CacheResult.NONE ? "" : notes.cache().token();
  }

  /** Empty if there was none. */
  static String failure(ExchangeNotes notes) {
    Failure failure = notes.failure();
    return failure == null ? "" : failure.kind().token();
  }

  /** Whether there is such a text; it is the one to be written next. */
  final boolean finds(Exchange exchange, Text text) {
    RequestHead request = exchange.request();
    ExchangeNotes notes = exchange.notes();
    Failure failure = notes.failure();
    byte[] head = request.octets();
    int limit = text.limit;
    return !removed.contains(text)
        && switch (text) {
          case METHOD -> found(head, request.methodStart(), request.methodEnd(), limit);
          case TARGET -> found(head, request.targetStart(), request.targetEnd(), limit);
          case AUTHORITY -> found(head, request.authorityStart(), request.authorityEnd(), limit);
          case REFERER -> found(request.fields(), FieldName.REFERER, limit);
          case USER_AGENT -> found(request.fields(), FieldName.USER_AGENT, limit);
          case ROUTE -> found(notes.route(), limit);
          case ORIGIN -> found(notes.origin(), limit);
          case REASON -> failure != null && found(failure.reason(), limit);
        };
  }

  /** Whether there is such a value; it is the one to be written next. */
  final boolean finds(Exchange exchange, LoggedField field) {
    ExchangeNotes notes = exchange.notes();
    Trace trace = notes.trace();
    made.clear();
    boolean isFound =
        switch (field.kind()) {
          case REQUEST_FIELD -> found(exchange.request().fields(), field.name());
          case RESPONSE_FIELD -> found(notes.responseFields(), field.name());
          case REQUEST_ID -> found(notes.requestId(), ADDED_LIMIT);
          case TRACE_ID -> trace != null && found(trace.ids().trace(), ADDED_LIMIT);
          case ORIGIN -> found(notes.origin(), ADDED_LIMIT);
          case ORIGIN_TIME -> notes.originNanos() != 0 && found(made.seconds(notes.originNanos()));
          case TLS_VERSION -> found(notes.tlsVersion(), ADDED_LIMIT);
        };
    if (isFound && field.isSecret()) {
      digest.replace(made);
      return found(made);
    }
    return isFound;
  }

  private boolean found(byte[] octets, int start, int end, int limit) {
    this.octets = octets;
    this.start = start;
    this.end = Math.min(end, start + limit);
    isCut = this.end < end;
    return start < end;
  }

  private boolean found(LineBuffer value) {
    return found(value.octets(), 0, value.length(), value.length());
  }

  private boolean found(Fields fields, FieldName name, int limit) {
    int line = fields.indexOf(name);
    return line >= 0
        && found(fields.octets(), fields.valueStart(line), fields.valueEnd(line), limit);
  }

  /** Names from the configuration and reasons. */
  private boolean found(String value, int limit) {
    made.clear().ascii(value);
    return found(made.octets(), 0, made.length(), limit);
  }

  /** All lines of that name as one value. */
  private boolean found(@Nullable Fields fields, String name) {
    for (int line = 0; fields != null && line < fields.size(); line++) {
      if (fields.nameIs(line, name)) {
        made.octets(COMMA, 0, made.length() > 0 ? COMMA.length : 0);
        made.octets(fields.octets(), fields.valueStart(line), fields.valueEnd(line));
      }
    }
    return found(made.octets(), 0, made.length(), ADDED_LIMIT);
  }
}
