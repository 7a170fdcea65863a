package io.kamille.core.http;

import org.jspecify.annotations.Nullable;

/**
 * Status line and header section of a response (RFC 9112 §4). Mutable until handed on; not
 * thread-safe: belongs to one exchange and its loop.
 */
public final class ResponseHead {

  private final Fields fields;
  private int status;
  private int minorVersion = 1;
  private @Nullable Relay relay;

  /**
   * Who answered in place of the origin.
   *
   * @param detail a token for {@code Cache-Status}
   * @param isKept whether the response may be stored here, too
   */
  public record Relay(String detail, boolean isKept) {}

  /** An empty head for the parser to fill. */
  public ResponseHead() {
    this(0, new Fields());
  }

  private ResponseHead(int status, Fields fields) {
    this.status = status;
    this.fields = fields;
  }

  /** A head of our own: status code, field names and values in turn. */
  public static ResponseHead of(int status, String... namesAndValues) {
    return new ResponseHead(status, Fields.of(namesAndValues));
  }

  /** A head over these fields, which it owns from now on. */
  public static ResponseHead of(int status, Fields fields) {
    return new ResponseHead(status, fields);
  }

  /** A copy that lives as long as it likes. */
  public ResponseHead copy() {
    ResponseHead copy = new ResponseHead(status, fields.copy());
    copy.minorVersion = minorVersion;
    copy.relay = relay;
    return copy;
  }

  public Fields fields() {
    return fields;
  }

  /** The status code, 100 to 599. */
  public int status() {
    return status;
  }

  /** 1 for HTTP/1.1, 0 for HTTP/1.0. */
  public int minorVersion() {
    return minorVersion;
  }

  /** Whether this is an interim response (1xx) that a final one follows. 101 is final. */
  public boolean isInterim() {
    return status < 200 && status != StatusCode.SWITCHING_PROTOCOLS;
  }

  public boolean has(FieldName name) {
    return fields.has(name);
  }

  /** Who answered in place of the origin; null for the origin itself. */
  public @Nullable Relay relay() {
    return relay;
  }

  public void relay(Relay relay) {
    this.relay = relay;
  }

  /** The first value of the field or null. */
  public @Nullable String field(FieldName name) {
    return fields.first(name);
  }

  /** Forgets the response and keeps the memory. */
  public void clear() {
    fields.clear();
    relay = null;
  }

  /** Sets what the status line says. */
  public void startLine(int status, int minorVersion) {
    this.status = status;
    this.minorVersion = minorVersion;
  }

  @Override
  public String toString() {
    return "HTTP/1." + minorVersion + " " + status + "\n" + fields;
  }
}
