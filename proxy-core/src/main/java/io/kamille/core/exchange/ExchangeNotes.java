package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Topics;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the stations note about an exchange for the access log and the metrics. Fields are written
 * by the station that knows and read once, at the end. Confined to its loop.
 */
public final class ExchangeNotes {

  /** What the cache did, in the words of RFC 9211. */
  public enum CacheResult {
    /** No cache on this route. */
    NONE,
    HIT,
    STALE_HIT,
    /** A validation succeeded and the stored response was used. */
    REVALIDATED,
    COLLAPSED,
    MISS,
    BYPASS;

    private final String token;

    CacheResult() {
      token = name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The word for it in logs and metrics, for example {@code stale-hit}. */
    public String token() {
      return token;
    }
  }

  /** What {@code Cache-Status} says of a request that was refused before any cache was asked. */
  public static final String REFUSED = Failure.PSEUDONYM + "; detail=refused";

  /** No status of gRPC is known. */
  public static final int NO_GRPC_STATUS = -1;

  private String route = "";
  private CacheResult cache = CacheResult.NONE;
  private @Nullable Failure failure;
  private String origin = "";
  private String cacheStatus = "";
  private int grpcStatus = NO_GRPC_STATUS;
  private @Nullable Trace trace;
  private String requestId = "";
  private String tlsVersion = "";
  private long originNanos;
  private boolean isUnlogged;
  private @Nullable Fields responseFields;
  private @Nullable Topics topics;
  private ErrorPages errorPages = ErrorPages.NONE;
  private long contentLimit = Long.MAX_VALUE;
  private boolean hasSecurityFields;
  private List<String> cookies = List.of();
  private boolean hasInputEnded;

  void clear() {
    route = "";
    cache = CacheResult.NONE;
    failure = null;
    origin = "";
    cacheStatus = "";
    grpcStatus = NO_GRPC_STATUS;
    trace = null;
    requestId = "";
    tlsVersion = "";
    originNanos = 0;
    isUnlogged = false;
    responseFields = null;
    topics = null;
    errorPages = ErrorPages.NONE;
    contentLimit = Long.MAX_VALUE;
    hasSecurityFields = false;
    cookies = List.of();
    hasInputEnded = false;
  }

  /** The most bytes of content that the request may have, by its route. */
  public long contentLimit() {
    return contentLimit;
  }

  public void contentLimit(long bytes) {
    contentLimit = bytes;
  }

  /** Whether an answer of the connection's own making has the fields of a route for security. */
  public boolean hasSecurityFields() {
    return hasSecurityFields;
  }

  public void securityFields() {
    hasSecurityFields = true;
  }

  public String route() {
    return route;
  }

  public void route(String route) {
    this.route = route;
  }

  public CacheResult cache() {
    return cache;
  }

  public void cache(CacheResult cache) {
    this.cache = cache;
  }

  public @Nullable Failure failure() {
    return failure;
  }

  public void failure(Failure failure) {
    this.failure = failure;
  }

  /** The origin that answered, empty if none was asked. */
  public String origin() {
    return origin;
  }

  public void origin(String origin) {
    this.origin = origin;
  }

  /**
   * What {@code Cache-Status} says on an answer of the connection's own making (RFC 9211); empty if
   * nothing.
   */
  public String cacheStatus() {
    return cacheStatus;
  }

  public void cacheStatus(String cacheStatus) {
    this.cacheStatus = cacheStatus;
  }

  /** A gate of the route lets the request go no further. */
  public void refused() {
    cacheStatus = REFUSED;
  }

  /** The name of the request, for an answer of the connection's own making; empty if none. */
  public String requestId() {
    return requestId;
  }

  public void requestId(String requestId) {
    this.requestId = requestId;
  }

  /** The version of TLS between the client and us, such as {@code TLSv1.3}; empty for none. */
  public String tlsVersion() {
    return tlsVersion;
  }

  public void tlsVersion(String tlsVersion) {
    this.tlsVersion = tlsVersion;
  }

  /**
   * How long the origin that answered took, from the complete request head on its way to the
   * response head, in nanoseconds; 0 if none answered.
   */
  public long originNanos() {
    return originNanos;
  }

  public void originNanos(long nanos) {
    originNanos = nanos;
  }

  /** Whether the access log is to have no line for it. */
  public boolean isUnlogged() {
    return isUnlogged;
  }

  /** The access log has no line for it. */
  public void unlogged() {
    isUnlogged = true;
  }

  /** The fields of the response, for the access log; null if it has none of them. */
  public @Nullable Fields responseFields() {
    return responseFields;
  }

  /** Takes them over. */
  public void responseFields(Fields fields) {
    responseFields = fields;
  }

  /** What the stored response is about that was the answer; null if none was. */
  public @Nullable Topics topics() {
    return topics;
  }

  public void topics(Topics topics) {
    this.topics = topics;
  }

  /** The content of an answer of the connection's own making. */
  public ErrorPages errorPages() {
    return errorPages;
  }

  public void errorPages(ErrorPages errorPages) {
    this.errorPages = errorPages;
  }

  /** The values of {@code Set-Cookie} that the client gets beside those of the origin. */
  public List<String> cookies() {
    return cookies;
  }

  public void cookies(List<String> cookies) {
    this.cookies = cookies;
  }

  /** Whether the client has closed its side behind the request: most that do so are gone. */
  public boolean hasInputEnded() {
    return hasInputEnded;
  }

  public void inputEnded() {
    hasInputEnded = true;
  }

  /** How a call of gRPC ended, from 0 to 254; or {@link #NO_GRPC_STATUS}. */
  public int grpcStatus() {
    return grpcStatus;
  }

  public void grpcStatus(int grpcStatus) {
    this.grpcStatus = grpcStatus;
  }

  /** What is recorded of the exchange's way; null for most. */
  public @Nullable Trace trace() {
    return trace;
  }

  /** Has the exchange's way recorded from now on. */
  public void trace(Trace trace) {
    this.trace = trace;
  }

  /** The exchange takes a step, which is recorded if any is. */
  public void mark(TraceStep step, String detail) {
    if (trace != null) {
      trace.mark(step, detail);
    }
  }
}
