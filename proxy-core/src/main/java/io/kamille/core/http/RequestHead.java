package io.kamille.core.http;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Start line and header section of a request (RFC 9112 §3): offsets into the octets of its {@link
 * Fields}.
 *
 * <p>Filled by the parser, which guarantees what its accessors promise: one valid authority, a
 * target in one of the four forms. Not thread-safe: belongs to one exchange and its loop.
 */
public final class RequestHead {

  private static final long CREDENTIALS =
      Fields.mask(FieldName.AUTHORIZATION, FieldName.CLIENT_CERT);

  private static final long PRECONDITIONS =
      Fields.mask(
          FieldName.IF_MATCH,
          FieldName.IF_NONE_MATCH,
          FieldName.IF_MODIFIED_SINCE,
          FieldName.IF_UNMODIFIED_SINCE);

  /** How the request target was written (RFC 9112 §3.2). */
  public enum TargetForm {
    ORIGIN,
    ABSOLUTE,
    AUTHORITY,
    ASTERISK
  }

  /** Who sent a request. */
  public enum Sender {
    CLIENT,
    /** Another proxy of ours, for its client: what it has stored is no answer. */
    PROXY,
    /** The same, and what we have stored is no answer either. */
    PROXY_PAST_CACHE
  }

  private final Fields fields;
  private Sender sender = Sender.CLIENT;
  private @Nullable String partition;
  private Method method = Method.GET;
  private TargetForm form = TargetForm.ORIGIN;
  private int majorVersion = 1;
  private int minorVersion = 1;
  private int methodStart;
  private int methodEnd;
  private int targetStart;
  private int targetEnd;
  private int pathStart;
  private int queryStart;
  private int queryEnd;
  private int authorityStart;
  private int authorityEnd;
  private boolean secure;
  private @Nullable NamedClient named;
  private boolean isChecked;

  /** An empty head for the parser to fill. */
  public RequestHead() {
    this(new Fields());
  }

  private RequestHead(Fields fields) {
    this.fields = fields;
  }

  /**
   * A head made by hand, for tests and for requests of our own: {@code GET}, {@code
   * http://example.org/a?b}, field names and values in turn. A {@code Host} line is added.
   */
  public static RequestHead of(String method, String uri, String... namesAndValues) {
    int schemeEnd = uri.indexOf("://");
    int authority = schemeEnd + 3;
    int slash = uri.indexOf('/', authority);
    String target = slash < 0 ? "/" : uri.substring(slash);
    String host = slash < 0 ? uri.substring(authority) : uri.substring(authority, slash);
    RequestHead head = new RequestHead();
    byte[] line = (method + target + host).getBytes(StandardCharsets.ISO_8859_1);
    System.arraycopy(line, 0, head.fields.roomFor(line.length), 0, line.length);
    int targetEnd = method.length() + target.length();
    head.startLine(
        Method.of(line, 0, method.length()),
        0,
        method.length(),
        TargetForm.ORIGIN,
        method.length(),
        targetEnd,
        1);
    int query = target.indexOf('?');
    head.target(method.length(), query < 0 ? targetEnd : method.length() + query);
    head.authority(targetEnd, line.length);
    head.secure(uri.startsWith("https:"));
    head.fields.add(FieldName.HOST, host);
    for (int i = 0; i < namesAndValues.length; i += 2) {
      head.fields.add(namesAndValues[i], namesAndValues[i + 1]);
    }
    return head;
  }

  /** A copy that lives as long as it likes. */
  public RequestHead copy() {
    RequestHead copy = new RequestHead(fields.copy());
    copy.startLine(method, methodStart, methodEnd, form, targetStart, targetEnd, minorVersion);
    copy.majorVersion = majorVersion;
    copy.target(pathStart, queryStart);
    copy.queryEnd = queryEnd;
    copy.authority(authorityStart, authorityEnd);
    copy.secure = secure;
    copy.sender = sender;
    copy.named = named;
    copy.partition = partition;
    copy.isChecked = isChecked;
    return copy;
  }

  public Fields fields() {
    return fields;
  }

  /**
   * Whether it says whose it is: by {@code Authorization}, by a client certificate (RFC 9440), or
   * by whatever its route has checked.
   */
  public boolean isAuthenticated() {
    return isChecked || fields.hasAny(CREDENTIALS);
  }

  /** Whether its route has checked whose it is. */
  public boolean isChecked() {
    return isChecked;
  }

  /** Says that its route has checked whose it is. */
  public void authenticated() {
    isChecked = true;
  }

  public Method method() {
    return method;
  }

  /** The method as it came. */
  public String methodText() {
    return method == Method.OTHER ? Octets.text(octets(), methodStart, methodEnd) : method.name();
  }

  public TargetForm form() {
    return form;
  }

  /** 1 for HTTP/1, 2 for HTTP/2. */
  public int majorVersion() {
    return majorVersion;
  }

  /** 1 for HTTP/1.1, 0 for HTTP/1.0; 1 for HTTP/2, too, which can do all that HTTP/1.1 can. */
  public int minorVersion() {
    return minorVersion;
  }

  /** Whether the request came over TLS: the scheme of the target URI is https. */
  public boolean isSecure() {
    return secure;
  }

  public Sender sender() {
    return sender;
  }

  /** Says who has sent it, if that is no client. */
  public void sender(Sender sender) {
    this.sender = sender;
  }

  /** Whose request it is, if a proxy that is trusted has sent it; null if it speaks for itself. */
  public @Nullable NamedClient named() {
    return named;
  }

  /** Its client, if {@code peer} is the other end of the connection. */
  public InetSocketAddress client(InetSocketAddress peer) {
    return named == null ? peer : named.client();
  }

  /** Says whose request it is. */
  public void named(NamedClient named) {
    this.named = named;
  }

  /** What tells its responses apart from others of its target URI; null for nothing. */
  public @Nullable String partition() {
    return partition;
  }

  /** Says what that is. */
  public void partition(@Nullable String partition) {
    this.partition = partition;
  }

  /**
   * Whether the target URI has the scheme of the connection. Only an absolute-form target can have
   * another: {@code https} on a connection in clear, {@code http} over TLS (RFC 9110 §7.4). A proxy
   * that is trusted says by a field which one counts.
   */
  public boolean hasSchemeOfConnection() {
    if (form != TargetForm.ABSOLUTE || named != null) {
      return true;
    }
    int behindHttp = targetStart + "http".length();
    return (octets()[behindHttp] != ':') == secure;
  }

  /** The request target as it came. */
  public String target() {
    return Octets.text(octets(), targetStart, targetEnd);
  }

  /**
   * Path and query as they are forwarded, {@code /} if an absolute-form target had none (RFC 9112
   * §3.2.1); {@code *} and authority-form targets unchanged.
   */
  public String pathAndQuery() {
    String text = Octets.text(octets(), pathStart, queryEnd);
    return form == TargetForm.ABSOLUTE && !text.startsWith("/") ? "/" + text : text;
  }

  /** The path without the query. */
  public String path() {
    String text = Octets.text(octets(), pathStart, queryStart);
    return text.isEmpty() ? "/" : text;
  }

  /** Host and port of the target URI as they came; empty if an HTTP/1.0 request named none. */
  public String authority() {
    return Octets.text(octets(), authorityStart, authorityEnd);
  }

  /** The first value of the field or null. */
  public @Nullable String field(FieldName name) {
    return fields.first(name);
  }

  /** The octets that the offsets of this head point into. Do not keep or change. */
  public byte[] octets() {
    return fields.octets();
  }

  public int methodStart() {
    return methodStart;
  }

  public int methodEnd() {
    return methodEnd;
  }

  public int targetStart() {
    return targetStart;
  }

  public int targetEnd() {
    return targetEnd;
  }

  /** Where the path begins; it may be empty in absolute form and means {@code /} then. */
  public int pathStart() {
    return pathStart;
  }

  /** Where the path ends: at the question mark of the query or at {@link #queryEnd}. */
  public int pathEnd() {
    return queryStart;
  }

  /** Where the query ends, and path and query as they are forwarded. */
  public int queryEnd() {
    return queryEnd;
  }

  public int authorityStart() {
    return authorityStart;
  }

  public int authorityEnd() {
    return authorityEnd;
  }

  // For the parser

  /** Forgets the request and keeps the memory. */
  public void clear() {
    fields.clear();
    sender = Sender.CLIENT;
    partition = null;
    isChecked = false;
    secure = false;
    named = null;
    startLine(Method.OTHER, 0, 0, TargetForm.ORIGIN, 0, 0, 1);
    target(0, 0);
    authority(0, 0);
  }

  /** Sets what the request line says. */
  public void startLine(
      Method method,
      int methodStart,
      int methodEnd,
      TargetForm form,
      int targetStart,
      int targetEnd,
      int minorVersion) {
    this.method = method;
    this.methodStart = methodStart;
    this.methodEnd = methodEnd;
    this.form = form;
    this.targetStart = targetStart;
    this.targetEnd = targetEnd;
    this.queryEnd = targetEnd;
    this.majorVersion = 1;
    this.minorVersion = minorVersion;
  }

  /** Sets the version of HTTP that it came by, after {@link #startLine}. */
  public void majorVersion(int majorVersion) {
    this.majorVersion = majorVersion;
  }

  /** Sets where the path begins and where it ends and the query (with its mark) begins. */
  public void target(int pathStart, int queryStart) {
    this.pathStart = pathStart;
    this.queryStart = queryStart;
  }

  /** Sets where host and port stand. */
  public void authority(int start, int end) {
    this.authorityStart = start;
    this.authorityEnd = end;
  }

  public void secure(boolean secure) {
    this.secure = secure;
  }

  /** Makes it a request for the content too: GET in place of HEAD. */
  public void get() {
    method = Method.GET;
  }

  // For who forwards another query than came

  /**
   * Puts another query in place of the one that came; {@link #target} stays as it came.
   *
   * @param query copied from its beginning, with the question mark; nothing for no query
   */
  public void query(byte[] query, int length) {
    int pathLength = queryStart - pathStart;
    int start = fields.append(pathLength + length);
    byte[] octets = fields.octets();
    System.arraycopy(octets, pathStart, octets, start, pathLength);
    System.arraycopy(query, 0, octets, start + pathLength, length);
    pathStart = start;
    queryStart = start + pathLength;
    queryEnd = queryStart + length;
  }

  /** Puts another path in place of the one that came; {@link #target} stays as it came. */
  public void path(byte[] path) {
    int queryLength = queryEnd - queryStart;
    int start = fields.append(path.length + queryLength);
    byte[] octets = fields.octets();
    System.arraycopy(path, 0, octets, start, path.length);
    System.arraycopy(octets, queryStart, octets, start + path.length, queryLength);
    pathStart = start;
    queryStart = start + path.length;
    queryEnd = queryStart + queryLength;
  }

  /** Whether it has a precondition, which a 304 may answer (RFC 9110 §13.1). */
  public boolean isConditional() {
    return fields().hasAny(PRECONDITIONS);
  }

  @Override
  public String toString() {
    return methodText() + " " + target() + " HTTP/1." + minorVersion + "\n" + fields;
  }
}
