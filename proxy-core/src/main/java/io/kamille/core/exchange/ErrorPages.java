package io.kamille.core.exchange;

import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StreamType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The content that errors of a route have, by status code. Immutable. */
public record ErrorPages(Map<Integer, Page> byStatus) {

  /**
   * One page.
   *
   * @param content shared by all that send it, and never changed
   * @param type its {@code Content-Type}
   * @param intercepts whether it also takes the place of what an origin sends
   */
  @SuppressWarnings("ArrayRecordComponent") // compared with nothing
  public record Page(byte[] content, String type, boolean intercepts) {}

  public static final ErrorPages NONE = new ErrorPages(Map.of());

  public ErrorPages {
    byStatus = Map.copyOf(byStatus);
  }

  /** The page for an error of our own, or null. */
  public @Nullable Page find(int status) {
    return byStatus.get(status);
  }

  /** The page in place of what an origin sends, or null. */
  public @Nullable Page intercepting(int status) {
    Page page = status < 400 ? null : find(status);
    return page != null && page.intercepts() ? page : null;
  }

  /** Whether the client may get a page: one that calls by gRPC reads none. */
  public static boolean suit(RequestHead request) {
    return !StreamType.isGrpc(request.fields());
  }
}
