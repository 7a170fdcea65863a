package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.kamille.core.http.HttpDate;
import io.kamille.perf.load.MadeContent;
import io.kamille.perf.soak.Subject.Framing;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One connection that the proxy made to an origin. Confined to its thread. */
final class OriginConnection {

  private static final int WRITE_BYTES = 8 * 1024;
  private static final int CHUNK_BYTES = 5000;
  private static final long HANG_MILLIS = 4000;
  private static final int DRIP_OCTETS = 16;
  private static final int SLOW_EVERY = 8;
  private static final int SLOW_MILLIS = 60;
  private static final int LONG_FIELD = 80 * 1024;
  private static final double FAULTY = 0.4;
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

  private final Socket socket;
  private final MessageReader in;
  private final OutputStream out;
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;

  /** What one answer is made of. */
  private record Answer(
      Subject subject,
      int variant,
      long version,
      int status,
      int from,
      int length,
      boolean hasContent) {}

  OriginConnection(Socket socket, Versions versions, Tally tally, SplittableRandom random)
      throws IOException {
    this.socket = socket;
    this.in = new MessageReader(socket.getInputStream());
    this.out = new BufferedOutputStream(socket.getOutputStream(), WRITE_BYTES);
    this.versions = versions;
    this.tally = tally;
    this.random = random;
  }

  /**
   * Reads a request and answers it.
   *
   * @return whether another one may follow
   */
  boolean answerNext() throws IOException {
    Head request = in.head();
    if (request == null) {
      return false;
    }
    var subject = Subject.parse(request.word(1));
    String method = request.word(0);
    boolean isUnsafe = method.equals("POST");
    if (isUnsafe) {
      readContent(request, subject);
    } else if (request.isChunked() || request.contentLength() > 0) {
      tally.fail("origin: content with " + request.startLine());
    }
    think(subject);
    if (subject.family() == Family.SHAKY && random.nextDouble() < FAULTY) {
      return fail(subject, request);
    }
    if (isUnsafe) {
      return acknowledge(subject);
    }
    return send(answer(subject, request));
  }

  /** What a client sent arrives as it was sent; only a complete one changes anything. */
  private void readContent(Head request, Subject subject) throws IOException {
    MadeContent expected = subject.content(0, 0);
    int[] position = {0};
    in.content(
        request,
        false,
        (octets, from, count) -> {
          if (!expected.matches(position[0], octets, from, count)) {
            tally.fail("origin: wrong request content for " + subject.target());
          }
          position[0] += count;
        });
    String announced = request.field("x-length");
    if (announced != null && Integer.parseInt(announced) != position[0]) {
      tally.fail("origin: " + position[0] + " octets of " + announced + " for " + subject.target());
    }
  }

  private void think(Subject subject) {
    if (subject.number() % SLOW_EVERY == 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(SLOW_MILLIS)));
    }
  }

  private boolean acknowledge(Subject subject) throws IOException {
    long version = versions.change(subject);
    print("HTTP/1.1 204 No Content\r\n" + date() + "X-Version: " + version + "\r\n\r\n");
    out.flush();
    return true;
  }

  private Answer answer(Subject subject, Head request) {
    long version = versions.current(subject);
    int variant = variant(subject, request.field("accept-language"));
    boolean hasContent = !request.word(0).equals("HEAD");
    if (subject.isNegative()) {
      return new Answer(subject, variant, version, 404, 0, subject.length(), hasContent);
    }
    String tag = Subject.entityTag(variant, version);
    String unmodified = request.field("if-none-match");
    if (unmodified != null && unmodified.contains(tag)) {
      return new Answer(subject, variant, version, 304, 0, 0, false);
    }
    String range = request.field("range");
    String condition = request.field("if-range");
    if (range != null
        && hasContent
        && subject.hasRanges()
        && (condition == null || condition.equals(tag))) {
      Matcher matcher = RANGE.matcher(range);
      if (matcher.matches() && Integer.parseInt(matcher.group(1)) < subject.length()) {
        int first = Integer.parseInt(matcher.group(1));
        int last = Math.min(Integer.parseInt(matcher.group(2)), subject.length() - 1);
        return new Answer(subject, variant, version, 206, first, last - first + 1, true);
      }
    }
    return new Answer(subject, variant, version, 200, 0, subject.length(), hasContent);
  }

  /** Of the languages en, de and fr, the one asked for; for others than Vary, 0. */
  static int variant(Subject subject, @Nullable String language) {
    if (subject.family().variants() == 1 || language == null) {
      return 0;
    }
    return switch (language) {
      case "de" -> 1;
      case "fr" -> 2;
      default -> 0;
    };
  }

  private boolean send(Answer answer) throws IOException {
    print(head(answer, ""));
    if (!answer.hasContent()) {
      out.flush();
      return answer.subject().framing() != Framing.CLOSE;
    }
    content(answer, answer.length());
    if (answer.subject().framing() == Framing.CHUNKED) {
      print("0\r\n\r\n");
    }
    out.flush();
    return answer.subject().framing() != Framing.CLOSE;
  }

  private String head(Answer answer, String more) {
    Subject subject = answer.subject();
    var head = new StringBuilder("HTTP/1.1 ").append(answer.status()).append(" Soak\r\n");
    head.append(date()).append("X-Version: ").append(answer.version()).append("\r\n");
    head.append("ETag: ").append(Subject.entityTag(answer.variant(), answer.version()));
    head.append("\r\nCache-Control: ").append(control(subject)).append("\r\n");
    head.append("Surrogate-Key: ").append(subject.tag()).append("\r\n");
    head.append(subject.family() == Family.TEXT ? "Content-Type: text/plain\r\n" : "");
    head.append(subject.family() == Family.VARY ? "Vary: Accept-Language\r\n" : "");
    if (answer.status() == 206) {
      int last = answer.from() + answer.length() - 1;
      head.append("Content-Range: bytes ").append(answer.from()).append('-').append(last);
      head.append('/').append(subject.length()).append("\r\n");
    }
    head.append(more);
    if (subject.framing() == Framing.CLOSE) {
      head.append("Connection: close\r\n");
    } else if (answer.status() != 304) {
      head.append(framing(answer));
    }
    return head.append("\r\n").toString();
  }

  private static String framing(Answer answer) {
    return answer.subject().framing() == Framing.CHUNKED
        ? "Transfer-Encoding: chunked\r\n"
        : "Content-Length: " + answer.length() + "\r\n";
  }

  private static String control(Subject subject) {
    int maxAge = subject.family().maxAge();
    return maxAge == 0 ? "no-store" : String.format(Locale.ROOT, "max-age=%d", maxAge);
  }

  private static String date() {
    return "Date: " + HttpDate.format(System.currentTimeMillis() / 1000) + "\r\n";
  }

  private void content(Answer answer, int length) throws IOException {
    MadeContent content = answer.subject().content(answer.variant(), answer.version());
    if (answer.subject().framing() != Framing.CHUNKED) {
      content.write(out, answer.from(), length);
      return;
    }
    for (int sent = 0; sent < length; ) {
      int count = Math.min(length - sent, 1 + random.nextInt(2 * CHUNK_BYTES));
      print(Integer.toHexString(count) + "\r\n");
      content.write(out, answer.from() + sent, count);
      print("\r\n");
      sent += count;
    }
  }

  private boolean fail(Subject subject, Head request) throws IOException {
    var fault = Fault.values()[random.nextInt(Fault.values().length)];
    tally.count("fault." + fault);
    Answer answer = answer(subject, request);
    switch (fault) {
      case CLOSE_BEFORE_HEAD -> {}
      case RESET_BEFORE_HEAD -> reset();
      case CLOSE_IN_HEAD -> printHalf(head(answer, ""));
      case RESET_IN_HEAD -> {
        printHalf(head(answer, ""));
        reset();
      }
      case HANG_BEFORE_HEAD -> hang();
      case DRIP_HEAD -> drip(head(answer, ""));
      case NONSENSE -> print("220 mail.example ESMTP\r\n");
      case TWO_LENGTHS -> print(head(answer, "Content-Length: 1\r\nContent-Length: 2\r\n"));
      case LONG_HEAD -> print(head(answer, "X-Long: " + "x".repeat(LONG_FIELD) + "\r\n"));
      case ERROR_500, ERROR_503 -> {
        int status = fault == Fault.ERROR_500 ? 500 : 503;
        print("HTTP/1.1 " + status + " Soak\r\n" + date());
        print("X-Fault: " + fault + "\r\nContent-Length: 0\r\n\r\n");
        out.flush();
        return true;
      }
      case CLOSE_IN_CONTENT -> breakOff(answer, false);
      case RESET_IN_CONTENT -> breakOff(answer, true);
      case HANG_IN_CONTENT -> {
        breakOff(answer, true);
        hang();
      }
      case SURPLUS -> {
        send(answer);
        print(subject.framing() == Framing.CLOSE ? "" : "surplus");
      }
    }
    out.flush();
    return false;
  }

  /** Until the end of the connection tells the end of the content, only a reset breaks it off. */
  private void breakOff(Answer answer, boolean byReset) throws IOException {
    print(head(answer, ""));
    if (answer.hasContent() && answer.length() > 0) {
      content(answer, random.nextInt(answer.length()));
    }
    out.flush();
    if (byReset || answer.subject().framing() == Framing.CLOSE) {
      reset();
    }
  }

  private void reset() throws IOException {
    socket.setSoLinger(true, 0);
  }

  private static void hang() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(HANG_MILLIS));
  }

  private void drip(String head) throws IOException {
    for (int i = 0; i < DRIP_OCTETS; i++) {
      print(head.substring(i, i + 1));
      out.flush();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(HANG_MILLIS / DRIP_OCTETS));
    }
  }

  private void printHalf(String head) throws IOException {
    print(head.substring(0, head.length() / 2));
    out.flush();
  }

  private void print(String text) throws IOException {
    out.write(text.getBytes(ISO_8859_1));
  }
}
