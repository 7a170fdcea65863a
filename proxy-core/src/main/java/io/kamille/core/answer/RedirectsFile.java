package io.kamille.core.answer;

import static java.util.stream.Collectors.joining;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.Seldom;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.WatchedFiles;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Redirects by a file that is read again when it changes. Any loop. */
public final class RedirectsFile {

  /*
   * The first request after a second has the file looked at, on another thread; it goes by the
   * table that is there. A file that is not right as a whole changes nothing, and nobody begins
   * with one: it may have changed since somebody checked it.
   */
  /** Of many problems the log has the first ones. */
  private static final int LOGGED = 5;

  private static final System.Logger LOG = System.getLogger("kamille.routes");

  private final Path path;
  private final Executor files;
  private final WallClock clock;
  private final AtomicReference<RedirectTable> table = new AtomicReference<>(RedirectTable.EMPTY);
  private final Seldom polled = new Seldom(TimeUnit.SECONDS.toNanos(1));

  @GuardedBy("this")
  private final WatchedFiles watched;

  @GuardedBy("this")
  private List<Problem> said = List.of();

  /**
   * Goes by a file, which it reads now: blocks.
   *
   * @param files reads it later
   * @throws IOException if it is not right
   */
  public RedirectsFile(Path path, Executor files, WallClock clock) throws IOException {
    this.path = path;
    this.watched = new WatchedFiles(List.of(path));
    this.files = files;
    this.clock = clock;
    List<Problem> wrong = find();
    if (!wrong.isEmpty()) {
      throw new IOException(first(wrong));
    }
  }

  /** What it goes by now. */
  public RedirectTable table() {
    return table.getAcquire();
  }

  /** Redirects what has moved, and passes the rest on. */
  public ExchangeHandler before(ExchangeHandler next) {
    return exchange -> handle(exchange, next);
  }

  private void handle(Exchange exchange, ExchangeHandler next) {
    pollIfDue();
    ResponseHead head = table().answer(exchange.request());
    if (head == null) {
      next.handle(exchange);
      return;
    }
    if (exchange.notes().hasSecurityFields()) {
      SecurityFields.addTo(head.fields(), exchange.request().isSecure());
    }
    exchange.reply().head(head, 0);
    exchange.reply().end(null);
  }

  void pollIfDue() {
    if (polled.isDue(clock.nanos())) {
      files.execute(this::poll);
    }
  }

  private synchronized void poll() {
    List<Problem> now = find();
    if (!now.isEmpty() && !now.equals(said)) {
      LOG.log(Level.ERROR, "redirects by {0} stay as they were: {1}", path, first(now));
    }
    said = now;
  }

  private static String first(List<Problem> found) {
    return found.stream().limit(LOGGED).map(Problem::toString).collect(joining("; "));
  }

  /** Takes in what is in the file by now; what is wrong with it. */
  private synchronized List<Problem> find() {
    var found = new Problems(path.toString());
    try {
      byte[] content = watched.poll(() -> RedirectTable.content(path));
      if (content == null) {
        return said;
      }
      if (content.length == 0 && table().size() > 0) {
        // Whoever writes a file in place cuts it first.
        throw new IOException("it is empty: if that is meant, reload the configuration");
      }
      RedirectTable read = RedirectTable.parse(path, content, found);
      if (found.isEmpty()) {
        Level news = table().equals(RedirectTable.EMPTY) ? Level.DEBUG : Level.INFO;
        table.setRelease(read);
        LOG.log(news, "read {0}: {1} redirect(s)", path, Integer.toString(read.size()));
      }
    } catch (IOException unreadable) {
      found.addUnreadable(unreadable);
    }
    return found.inOrder();
  }
}
