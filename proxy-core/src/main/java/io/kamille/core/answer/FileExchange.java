package io.kamille.core.answer;

import io.kamille.core.answer.RootDirectory.Found;
import io.kamille.core.content.Pump;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.ByteRange;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;

/** One request for a file. Confined to its loop, but for what it has the threads of files do. */
final class FileExchange {

  /*
   * A file is looked for, opened and, if it is short, read on a thread of files. A longer one goes
   * to a socket in clear text as one region, by sendfile, and into TLS and HTTP/2 slice by slice.
   */
  static final Failure NO_FILE = Failure.request(StatusCode.NOT_FOUND, "no file at this path");

  private static final Failure BUSY =
      new Failure(ErrorType.PROXY_INTERNAL_RESPONSE, 503, "too many files are being opened", 1);

  private final Exchange exchange;
  private final Reply reply;
  private final RootDirectory directory;
  private final String target;
  private final FileThreads threads;
  private final WallClock clock;
  private final FilePieces content;
  private final Pump pump;

  FileExchange(
      Exchange exchange,
      RootDirectory directory,
      String target,
      FileThreads threads,
      WallClock clock) {
    this.exchange = exchange;
    this.reply = exchange.reply();
    this.directory = directory;
    this.target = target;
    this.threads = threads;
    this.clock = clock;
    this.content = new FilePieces(exchange.loop(), threads);
    this.pump = new Pump(content);
  }

  void start() {
    reply.open(pump);
    if (pump.isOver()) {
      return;
    }
    if (threads.isBusy()) {
      fail(BUSY);
      return;
    }
    long accepted = AcceptedCodings.of(exchange.request().fields());
    boolean wantsContent = exchange.request().method() == Method.GET;
    try {
      threads.execute(() -> found(find(accepted, wantsContent)));
    } catch (RejectedExecutionException closed) {
      fail(BUSY);
    }
  }

  /** On a thread of files. The client waits for an answer, whatever goes wrong. */
  private Found find(long accepted, boolean wantsContent) {
    try {
      return directory.find(target, accepted, wantsContent);
    } catch (RuntimeException | Error broken) {
      return new Found.Trouble(broken.toString());
    }
  }

  /** On a thread of files. */
  private void found(Found found) {
    try {
      exchange.loop().execute(() -> answer(found));
    } catch (RejectedExecutionException loopIsClosed) {
      drop(found);
    }
  }

  private static void drop(Found found) {
    if (found instanceof Found.File(_, _, FileChannel channel) && channel != null) {
      FilePieces.closeFile(channel);
    }
  }

  private void answer(Found found) {
    if (pump.isOver()) {
      drop(found);
      return;
    }
    switch (found) {
      case Found.Missing() -> fail(NO_FILE);
      case Found.Forbidden() ->
          fail(Failure.request(StatusCode.FORBIDDEN, "the file may not be read"));
      case Found.Trouble(String why) ->
          fail(new Failure(ErrorType.PROXY_INTERNAL_RESPONSE, 503, "cannot read the file: " + why));
      case Found.Directory() -> redirect();
      case Found.File file -> judge(file);
    }
  }

  private void fail(Failure why) {
    reply.fail(why);
  }

  /** To the same path with a slash at its end, so that relative links lead on from there. */
  private void redirect() {
    RequestHead request = exchange.request();
    String query = request.pathAndQuery().substring(request.path().length());
    end(ResponseHead.of(301, "Location", "/" + encoded(target) + "/" + query), 0);
  }

  private static String encoded(String path) {
    StringBuilder text = new StringBuilder();
    for (byte octet : path.getBytes(StandardCharsets.UTF_8)) {
      boolean isPlain =
          (octet >= 'a' && octet <= 'z')
              || (octet >= 'A' && octet <= 'Z')
              || (octet >= '0' && octet <= '9')
              || "/-._~".indexOf(octet) >= 0;
      if (isPlain) {
        text.append((char) octet);
      } else {
        text.append('%')
            .append(Character.toUpperCase(Character.forDigit(octet >> 4 & 0xf, 16)))
            .append(Character.toUpperCase(Character.forDigit(octet & 0xf, 16)));
      }
    }
    return text.toString();
  }

  /** A response without content. */
  private void end(ResponseHead head, long contentLength) {
    reply.head(head, contentLength);
    reply.end(null);
  }

  private void judge(Found.File file) {
    long now = clock.epochSeconds();
    FileFacts facts = file.facts();
    switch (facts.judge(exchange.request(), now)) {
      case NOT_MODIFIED -> {
        drop(file);
        end(facts.head(StatusCode.NOT_MODIFIED, now), facts.lengthBytes());
      }
      case PRECONDITION_FAILED -> {
        drop(file);
        fail(Failure.request(StatusCode.PRECONDITION_FAILED, "the file is another one"));
      }
      case SEND -> send(file, facts.range(exchange.request(), now), now);
    }
  }

  private void send(Found.File file, ByteRange range, long now) {
    if (range.kind() == ByteRange.Outcome.UNSATISFIABLE) {
      drop(file);
      fail(
          Failure.request(
              StatusCode.RANGE_NOT_SATISFIABLE,
              "the file has no such range",
              "Content-Range",
              range.contentRange()));
      return;
    }
    boolean isPart = range.kind() == ByteRange.Outcome.PART;
    int status = isPart ? StatusCode.PARTIAL_CONTENT : StatusCode.OK;
    ResponseHead head = file.facts().head(status, now);
    if (isPart) {
      head.fields().add("Content-Range", range.contentRange());
    }
    reply.head(head, range.length());
    if (pump.isOver()) {
      drop(file);
    } else if (file.content() != null) {
      ByteBuffer part = file.content().slice((int) range.offset(), (int) range.length());
      reply.write(Unpooled.wrappedBuffer(part));
      reply.end(null);
    } else if (file.channel() == null) {
      reply.end(null);
    } else {
      content.open(file.channel(), range, reply.takesRegions());
      pump.start(reply);
    }
  }
}
