package io.kamille.perf.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A request ready to be sent, and the one response that is right. Confined to the client's thread.
 */
public final class LoadRequest {

  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;

  private final String head;
  private final int sentLength;
  private @Nullable ByteBuffer persistent;
  private @Nullable ByteBuffer last;
  private final boolean isHead;
  private final int status;
  private final int length;
  private final ExpectedContent content;

  private LoadRequest(
      String head,
      int sentLength,
      boolean isHead,
      int status,
      int length,
      ExpectedContent content) {
    this.head = head;
    this.sentLength = sentLength;
    this.isHead = isHead;
    this.status = status;
    this.length = length;
    this.content = content;
  }

  /**
   * A request that is to be answered with 200 and this content.
   *
   * @param authority for the Host field
   * @param target in origin form
   */
  public static LoadRequest get(String authority, String target, byte[] content) {
    return of("GET", authority, target, "", 0, OK, content.length, ExpectedContent.of(content));
  }

  /** A GET for what the origin makes, to be answered with 200. */
  public static LoadRequest get(String authority, OriginTarget target) {
    return made("GET", authority, target, "", 0, OK);
  }

  /** The same with field lines of its own, each ended by CRLF. */
  static LoadRequest get(String authority, OriginTarget target, String fieldLines) {
    return made("GET", authority, target, fieldLines, 0, OK);
  }

  /** A GET with a precondition that does not hold, to be answered with 304, or with 200. */
  static LoadRequest getUnmodified(String authority, OriginTarget target, String fieldLines) {
    return made("GET", authority, target, fieldLines, 0, NOT_MODIFIED);
  }

  /**
   * A GET for what the origin makes, to be answered with 200 and any content of its length: to
   * compare it would take time from what is measured.
   *
   * @param version of HTTP, as it stands behind the slash
   */
  static LoadRequest getUnchecked(String authority, OriginTarget target, String version) {
    String head = "GET " + target.text() + " HTTP/" + version + "\r\nHost: " + authority + "\r\n";
    return new LoadRequest(head, 0, false, OK, target.length(), ExpectedContent.ANY);
  }

  /** A HEAD, to be answered with 200 and the length of what it leaves out. */
  static LoadRequest head(String authority, OriginTarget target) {
    return made("HEAD", authority, target, "", 0, OK);
  }

  /** A POST with content of that length, to be answered with 200 and what the origin makes. */
  static LoadRequest post(String authority, OriginTarget target, int length) {
    return made("POST", authority, target, "Content-Length: " + length + "\r\n", length, OK);
  }

  private static LoadRequest made(
      String method, String authority, OriginTarget target, String lines, int sent, int status) {
    var content = ExpectedContent.made(target.object());
    return of(method, authority, target.text(), lines, sent, status, target.length(), content);
  }

  private static LoadRequest of(
      String method,
      String authority,
      String target,
      String fieldLines,
      int sentLength,
      int status,
      int length,
      ExpectedContent content) {
    String start = method + " " + target + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    boolean isHead = method.equals("HEAD");
    return new LoadRequest(start + fieldLines, sentLength, isHead, status, length, content);
  }

  /** What to send, from its first octet. Borrowed until the next call. */
  ByteBuffer octets(boolean isLastOnItsConnection) {
    ByteBuffer made = isLastOnItsConnection ? last : persistent;
    if (made == null) {
      made = octets(isLastOnItsConnection ? "Connection: close\r\n\r\n" : "\r\n");
      if (isLastOnItsConnection) {
        last = made;
      } else {
        persistent = made;
      }
    }
    return made.rewind();
  }

  private ByteBuffer octets(String end) {
    byte[] beginning = (head + end).getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(beginning.length + sentLength)
        .put(beginning)
        .put(new byte[sentLength]);
  }

  /**
   * Whether that status code is right. Who passes a request on may leave out its precondition: then
   * it is answered with 200 and all of the content (RFC 9110 §13.1.3 has no MUST), as nginx does
   * for what it does not store.
   */
  boolean isRight(int code) {
    return code == status || (status == NOT_MODIFIED && code == OK);
  }

  /** Whether a response with that status code has no content, whatever its length says. */
  boolean isWithoutContent(int code) {
    return isHead || code == 204 || code == NOT_MODIFIED;
  }

  boolean isHead() {
    return isHead;
  }

  /** What Content-Length must say, in a response that says it. */
  int contentLength() {
    return length;
  }

  /** Whether all that is left in {@code octets} stands in the content from {@code offset} on. */
  boolean hasContent(int offset, ByteBuffer octets) {
    return content.has(offset, octets);
  }
}
