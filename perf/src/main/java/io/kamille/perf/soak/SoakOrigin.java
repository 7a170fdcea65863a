package io.kamille.perf.soak;

import static io.kamille.perf.soak.SoakConnection.field;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.perf.load.MadeContent;
import io.kamille.perf.load.ScriptedOrigin;
import io.kamille.perf.soak.Subject.Framing;
import io.netty.buffer.ByteBuf;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An origin of the soak on a loopback port, sound or not. Any thread. */
final class SoakOrigin implements AutoCloseable {

  /** What an origin in trouble does instead of answering properly. */
  private enum Fault {
    CLOSE_BEFORE_HEAD,
    RESET_IN_HEAD,
    HANG_BEFORE_HEAD,
    DRIP_HEAD,
    NONSENSE,
    ERROR_503,
    CLOSE_IN_CONTENT,
    RESET_IN_CONTENT,
    HANG_IN_CONTENT,
    SURPLUS
  }

  private static final int WRITE_BYTES = 8 * 1024;
  private static final int CHUNK_BYTES = 5000;
  private static final long HANG_MILLIS = 4000;
  private static final int DRIP_OCTETS = 16;
  private static final int SLOW_EVERY = 8;
  private static final int SLOW_MILLIS = 60;
  private static final double FAULTY = 0.4;
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

  private final ScriptedOrigin origin;
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;

  // Volatile: set by the operator, read for each connection.
  private volatile boolean isDown;

  /** Listens until it is closed. */
  SoakOrigin(Versions versions, Tally tally, long seed) throws IOException {
    this.versions = versions;
    this.tally = tally;
    this.random = new SplittableRandom(seed);
    this.origin = ScriptedOrigin.start(0, this::serve);
  }

  int port() {
    return origin.port();
  }

  /** While it is down, connections are reset as soon as they come. */
  void down(boolean down) {
    isDown = down;
  }

  private void serve(Socket socket) throws IOException {
    if (isDown) {
      socket.setSoLinger(true, 0);
      return;
    }
    try {
      var connection = new Connection(socket, split());
      while (connection.answerNext()) {
        tally.count("origin.answered");
      }
    } catch (IOException e) {
      tally.count("origin.broken-off");
    } catch (RuntimeException e) {
      tally.fail("origin: " + e);
    }
  }

  private synchronized SplittableRandom split() {
    return random.split();
  }

  @Override
  public void close() throws IOException {
    origin.close();
  }

  /** What one answer is made of. */
  private record Answer(
      Subject subject,
      int variant,
      long version,
      int status,
      int from,
      int length,
      boolean hasContent) {

    private String head() {
      Family family = subject.family();
      String range = "bytes " + from + "-" + (from + length - 1) + "/" + subject.length();
      return begin(status)
          + line("X-Version", version)
          + line("ETag", Subject.entityTag(variant, version))
          + line("Cache-Control", family.maxAge == 0 ? "no-store" : "max-age=" + family.maxAge)
          + line("Surrogate-Key", subject.tag())
          + (family == Family.TEXT ? line("Content-Type", "text/plain") : "")
          + (family == Family.VARY ? line("Vary", "Accept-Language") : "")
          + (status == 206 ? line("Content-Range", range) : "")
          + switch (subject.framing()) {
            case CLOSE -> line("Connection", "close");
            case CHUNKED -> status == 304 ? "" : line("Transfer-Encoding", "chunked");
            case LENGTH -> status == 304 ? "" : line("Content-Length", length);
          }
          + "\r\n";
    }
  }

  private static String begin(int status) {
    String date = HttpDate.format(System.currentTimeMillis() / 1000);
    return "HTTP/1.1 " + status + " Soak\r\n" + line("Date", date);
  }

  private static String line(String name, Object value) {
    return name + ": " + value + "\r\n";
  }

  /** One connection that the proxy made. Confined to its thread. */
  private final class Connection {
    private final SoakConnection in;
    private final OutputStream out;
    private final SplittableRandom own;

    private Connection(Socket socket, SplittableRandom own) throws IOException {
      this.in = SoakConnection.of(socket);
      this.out = new BufferedOutputStream(socket.getOutputStream(), WRITE_BYTES);
      this.own = own;
    }

    /** Answers the next request; false if the connection is over. */
    private boolean answerNext() throws IOException {
      RequestHead request = in.request();
      if (request == null) {
        return false;
      }
      var subject = Subject.parse(request.target());
      boolean isUpload = request.method() == Method.POST;
      if (isUpload) {
        readContent(request, subject);
      } else if (MessageFraming.of(request) != 0) {
        tally.fail("origin: content with " + request);
      }
      if (subject.number() % SLOW_EVERY == 0) {
        park(own.nextInt(SLOW_MILLIS));
      }
      boolean isRight = true;
      if (subject.family() == Family.SHAKY && own.nextDouble() < FAULTY) {
        isRight = fail(answer(subject, request));
      } else if (isUpload) {
        print(begin(204) + line("X-Version", versions.change(subject)) + "\r\n");
      } else {
        send(answer(subject, request));
        isRight = subject.framing() != Framing.CLOSE;
      }
      out.flush();
      return isRight;
    }

    /** What a client sent arrives as it was sent. */
    private void readContent(RequestHead request, Subject subject) throws IOException {
      MadeContent expected = subject.content(0, 0);
      int position = 0;
      for (ByteBuf piece = in.piece(); piece != null; piece = in.piece()) {
        if (!expected.matches(position, piece.nioBuffer())) {
          tally.fail("origin: wrong request content for " + subject.target());
        }
        position += piece.readableBytes();
      }
      String announced = field(request.fields(), "x-length");
      if (!announced.isEmpty() && Integer.parseInt(announced) != position) {
        tally.fail("origin: " + position + " of " + announced + " for " + subject.target());
      }
    }

    private Answer answer(Subject subject, RequestHead request) {
      long version = versions.current(subject);
      Fields fields = request.fields();
      int language = Wanted.LANGUAGES.indexOf(field(fields, "accept-language"));
      int variant = subject.family().variants() == 1 ? 0 : Math.max(0, language);
      String tag = Subject.entityTag(variant, version);
      String condition = field(fields, "if-range");
      Matcher range = RANGE.matcher(field(fields, "range"));
      boolean isGet = request.method() != Method.HEAD;
      int length = subject.length();
      if (subject.isNegative()) {
        return new Answer(subject, variant, version, 404, 0, length, isGet);
      }
      if (field(fields, "if-none-match").contains(tag)) {
        return new Answer(subject, variant, version, 304, 0, 0, false);
      }
      if (range.matches()
          && isGet
          && subject.hasRanges()
          && (condition.isEmpty() || condition.equals(tag))
          && Integer.parseInt(range.group(1)) < length) {
        int first = Integer.parseInt(range.group(1));
        int end = Math.min(Integer.parseInt(range.group(2)) + 1, length);
        return new Answer(subject, variant, version, 206, first, end - first, true);
      }
      return new Answer(subject, variant, version, 200, 0, length, isGet);
    }

    private void send(Answer answer) throws IOException {
      print(answer.head());
      if (answer.hasContent()) {
        content(answer, answer.length());
        print(answer.subject().framing() == Framing.CHUNKED ? "0\r\n\r\n" : "");
      }
    }

    private void content(Answer answer, int length) throws IOException {
      MadeContent content = answer.subject().content(answer.variant(), answer.version());
      if (answer.subject().framing() != Framing.CHUNKED) {
        content.write(out, answer.from(), length);
        return;
      }
      for (int sent = 0; sent < length; ) {
        int count = Math.min(length - sent, 1 + own.nextInt(2 * CHUNK_BYTES));
        print(Integer.toHexString(count) + "\r\n");
        content.write(out, answer.from() + sent, count);
        print("\r\n");
        sent += count;
      }
    }

    /** Does something else than to answer; whether the connection can go on. */
    private boolean fail(Answer answer) throws IOException {
      var fault = Fault.values()[own.nextInt(Fault.values().length)];
      tally.count("fault." + fault);
      String head = answer.head();
      boolean endsWithConnection = answer.subject().framing() == Framing.CLOSE;
      switch (fault) {
        case CLOSE_BEFORE_HEAD -> {}
        case RESET_IN_HEAD -> {
          print(head.substring(0, head.length() / 2));
          out.flush();
          in.reset();
        }
        case HANG_BEFORE_HEAD -> park(HANG_MILLIS);
        case DRIP_HEAD -> {
          for (int i = 0; i < DRIP_OCTETS; i++) {
            print(head.substring(i, i + 1));
            out.flush();
            park(HANG_MILLIS / DRIP_OCTETS);
          }
        }
        case NONSENSE -> print("220 mail.example ESMTP\r\n");
        case ERROR_503 ->
            print(begin(503) + line("X-Fault", fault) + line("Content-Length", 0) + "\r\n");
        case CLOSE_IN_CONTENT, RESET_IN_CONTENT, HANG_IN_CONTENT -> {
          print(head);
          if (answer.hasContent() && answer.length() > 0) {
            content(answer, own.nextInt(answer.length()));
          }
          out.flush();
          park(fault == Fault.HANG_IN_CONTENT ? HANG_MILLIS : 0);
          // If the end of the connection tells the end of the content, only a reset breaks it off.
          if (fault != Fault.CLOSE_IN_CONTENT || endsWithConnection) {
            in.reset();
          }
        }
        case SURPLUS -> {
          send(answer);
          print(endsWithConnection ? "" : "surplus");
        }
      }
      return fault == Fault.ERROR_503;
    }

    private static void park(long millis) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void print(String text) throws IOException {
      out.write(text.getBytes(ISO_8859_1));
    }
  }
}
