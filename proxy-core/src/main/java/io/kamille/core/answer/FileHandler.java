package io.kamille.core.answer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.nio.file.Path;

/**
 * Answers exchanges with the files below a directory. The path of a request is looked for below the
 * directory as a whole. Any thread.
 */
public final class FileHandler implements ExchangeHandler {

  private static final Failure NO_METHOD =
      Failure.request(StatusCode.METHOD_NOT_ALLOWED, "files are only read", "Allow", "GET, HEAD");

  private final RootDirectory directory;
  private final FileThreads threads;
  private final WallClock clock;

  /**
   * Sends files that lie below {@code root}.
   *
   * @param threads for what blocks; stays the caller's
   */
  public FileHandler(Path root, FileThreads threads, WallClock clock) {
    this.directory = new RootDirectory(root);
    this.threads = threads;
    this.clock = clock;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request();
    if (request.method() != Method.GET && request.method() != Method.HEAD) {
      exchange.reply().fail(NO_METHOD);
      return;
    }
    String target = FileTarget.of(request.octets(), request.pathStart(), request.pathEnd());
    if (target == null) {
      exchange.reply().fail(FileExchange.NO_FILE);
    } else {
      new FileExchange(exchange, directory, target, threads, clock).start();
    }
  }
}
