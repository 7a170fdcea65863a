package io.kamille.core.auth;

import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Passes on with cookies for this client. A cache between it and us must not keep them for others:
 * so the response is private, whatever the origin says. Confined to its loop.
 */
final class CookieReply extends PassingReply {

  private static final String PRIVATE = "private";

  private final List<String> cookies;

  CookieReply(Reply reply, List<String> cookies) {
    super(reply);
    this.cookies = cookies;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    cookies.forEach(cookie -> head.fields().add(FieldName.SET_COOKIE, cookie));
    head.fields().add(FieldName.CACHE_CONTROL, PRIVATE);
    super.head(head, contentLength);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    byte[] own = withCookies(ownLines, ownLength);
    super.stored(status, own, own.length, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    byte[] own = withCookies(ownLines, ownLength);
    super.storedHead(status, own, own.length, lines, contentLength);
  }

  private byte[] withCookies(byte[] lines, int length) {
    StringBuilder more = new StringBuilder("Cache-Control: ").append(PRIVATE).append("\r\n");
    cookies.forEach(cookie -> more.append("Set-Cookie: ").append(cookie).append("\r\n"));
    byte[] added = more.toString().getBytes(StandardCharsets.ISO_8859_1);
    byte[] both = Arrays.copyOf(lines, length + added.length);
    System.arraycopy(added, 0, both, length, added.length);
    return both;
  }
}
