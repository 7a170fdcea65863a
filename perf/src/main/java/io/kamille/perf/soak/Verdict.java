package io.kamille.perf.soak;

import static io.kamille.perf.soak.SoakConnection.field;

import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.perf.load.MadeContent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares an answer with what was wanted, octet by octet as it comes. Confined.
 *
 * <p>An answer that breaks off by its framing is right as far as it came.
 */
final class Verdict {

  /** What an answer is. */
  enum Answer {
    CONTENT,
    UNMODIFIED,
    TROUBLE,
    WRONG
  }

  private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d+)-(\\d+)/(\\d+)");
  private static final Pattern TAG = Pattern.compile("\"(\\d+)-.*");

  private final Wanted wanted;
  private final ResponseHead head;
  private final Fields fields;
  private final Answer kind;
  private final @Nullable ByteArrayOutputStream coded;
  private @Nullable String fault;
  private @Nullable MadeContent content;
  private int position;
  private int end;

  Verdict(Wanted wanted, ResponseHead head, Versions versions) {
    this.wanted = wanted;
    this.head = head;
    this.fields = head.fields();
    this.coded = coding().isEmpty() ? null : new ByteArrayOutputStream();
    this.kind = judge(versions);
  }

  Answer kind() {
    return kind;
  }

  /** What is wrong; null if nothing is so far. */
  @Nullable String fault() {
    return fault;
  }

  private Answer judge(Versions versions) {
    int status = head.status();
    if (status >= 500) {
      String why = field(fields, "proxy-status") + field(fields, "x-fault");
      return why.isEmpty() ? wrong("nobody says why") : Answer.TROUBLE;
    }
    if (status == 304) {
      return wanted.isConditional() ? unmodified() : wrong("304 without a condition");
    }
    if (status != (wanted.subject().isNegative() ? 404 : 200) && status != 206) {
      return wrong("an odd status code");
    }
    String version = field(fields, "x-version");
    if (version.isEmpty()) {
      return wrong("no version");
    }
    checkVersion(Long.parseLong(version), versions);
    content = wanted.subject().content(wanted.variant(), Long.parseLong(version));
    end = wanted.subject().length();
    if (status == 206) {
      checkRange();
    }
    checkLength();
    if (coded != null && !(wanted.takesGzip() && coding().equals("gzip"))) {
      return wrong("a coding that was not asked for");
    }
    return fault == null ? Answer.CONTENT : Answer.WRONG;
  }

  private Answer unmodified() {
    Matcher matcher = TAG.matcher(field(fields, "etag"));
    if (matcher.matches() && Long.parseLong(matcher.group(1)) < wanted.least()) {
      return wrong("304 for what was invalidated");
    }
    return Answer.UNMODIFIED;
  }

  private void checkVersion(long version, Versions versions) {
    if (version < wanted.least()) {
      wrong("version " + version + ", of before the invalidation that made " + wanted.least());
    } else if (version > versions.current(wanted.subject())) {
      wrong("version " + version + ", which does not exist");
    }
    if (!field(fields, "etag").contains("-" + wanted.variant())) {
      wrong("another variant than " + wanted.variant());
    }
  }

  private void checkRange() {
    Matcher matcher = CONTENT_RANGE.matcher(field(fields, "content-range"));
    if (wanted.first() < 0 || !matcher.matches()) {
      wrong("a range that was not asked for");
      return;
    }
    position = Integer.parseInt(matcher.group(1));
    int last = Math.min(wanted.last(), end - 1);
    if (position != wanted.first()
        || Integer.parseInt(matcher.group(2)) != last
        || Integer.parseInt(matcher.group(3)) != end) {
      wrong("another range");
    }
    end = last + 1;
  }

  private void checkLength() {
    long length = MessageFraming.declared(head);
    boolean isStated = length != MessageFraming.CHUNKED && length != MessageFraming.UNTIL_CLOSE;
    if (coded == null && isStated && length != end - position) {
      wrong("another length than " + (end - position));
    }
  }

  private String coding() {
    return field(fields, "content-encoding");
  }

  /** Takes content as it comes. */
  void take(ByteBuf octets) {
    if (kind == Answer.TROUBLE || fault != null) {
      return;
    }
    if (content == null) {
      wrong("content where there is none");
    } else if (coded != null) {
      coded.writeBytes(ByteBufUtil.getBytes(octets));
    } else {
      compare(content, octets.nioBuffer());
    }
  }

  private void compare(MadeContent expected, ByteBuffer octets) {
    int count = octets.remaining();
    if (position + count > end) {
      wrong("more than " + end + " octets");
    } else if (!expected.matches(position, octets)) {
      wrong("other octets, between " + position + " and " + (position + count));
    }
    position += count;
  }

  /** The answer is complete by its framing. */
  void complete() {
    if (kind != Answer.CONTENT || fault != null || wanted.isHead()) {
      return;
    }
    if (coded != null && content != null) {
      decode(coded.toByteArray(), content);
    }
    if (fault == null && position != end) {
      wrong("complete with " + position + " of " + end + " octets");
    }
  }

  private void decode(byte[] octets, MadeContent expected) {
    try (var in = new GZIPInputStream(new ByteArrayInputStream(octets))) {
      compare(expected, ByteBuffer.wrap(in.readAllBytes()));
    } catch (IOException e) {
      wrong("no gzip: " + e.getMessage());
    }
  }

  private Answer wrong(String what) {
    if (fault == null) {
      fault = wanted.method() + " " + wanted.subject().target() + ": " + what + " — " + head;
    }
    return Answer.WRONG;
  }
}
