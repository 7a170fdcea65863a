package io.kamille.core.answer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.answer.RedirectTable.Moved;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Redirects what has moved by a file, and passes the rest on. Any loop. */
public final class MovedPaths implements ExchangeHandler {

  /*
   * The first request after a second has the file looked at, on another thread; it goes by the
   * table that is there. A file that is not right as a whole changes nothing.
   */
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos();
  private static final System.Logger LOG = System.getLogger("kamille.routes");
  private static final ExchangeHandler NOBODY =
      _ -> {
        throw new IllegalStateException("it answers questions alone");
      };

  private final Path file;
  private final ExchangeHandler next;
  private final Executor files;
  private final WallClock clock;
  private final AtomicReference<RedirectTable> table = new AtomicReference<>(RedirectTable.EMPTY);
  private final AtomicLong looked;

  @GuardedBy("this")
  private @Nullable List<?> seen;

  /** Goes by a file, which it reads now: blocks. */
  public MovedPaths(Path file, ExchangeHandler next, FileThreads files, WallClock clock) {
    this(file, next, (Executor) files, clock);
  }

  MovedPaths(Path file, ExchangeHandler next, Executor files, WallClock clock) {
    this.file = file;
    this.next = next;
    this.files = files;
    this.clock = clock;
    this.looked = new AtomicLong(clock.nanos());
    look();
  }

  private MovedPaths(Path file, RedirectTable read) {
    this.file = file;
    this.next = NOBODY;
    this.files = Runnable::run;
    this.clock = WallClock.system();
    this.looked = new AtomicLong();
    table.setPlain(read);
  }

  /**
   * What a file says now, for questions alone; blocks.
   *
   * @throws IOException if it is not right; the message says which line
   */
  public static MovedPaths asked(Path file) throws IOException {
    return new MovedPaths(file, RedirectTable.read(file));
  }

  /**
   * Reads such a file; blocks.
   *
   * @return how many redirects it has
   * @throws IOException if it is not right; the message says which line
   */
  public static int check(Path file) throws IOException {
    return RedirectTable.read(file).size();
  }

  @Override
  public void handle(Exchange exchange) {
    lookIfDue();
    ResponseHead head = answer(exchange.request());
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

  /** The redirect of a request; null if its path has not moved. */
  public @Nullable ResponseHead answer(RequestHead request) {
    Moved moved = table.getAcquire().find(request);
    return moved == null ? null : ResponseHead.of(moved.status(), "Location", moved.to());
  }

  void lookIfDue() {
    long now = clock.nanos();
    long last = looked.get();
    if (now - last >= LOOK_NANOS && looked.compareAndSet(last, now)) {
      files.execute(this::look);
    }
  }

  private synchronized void look() {
    List<?> now = stamp();
    if (now.equals(seen)) {
      return;
    }
    seen = now;
    try {
      RedirectTable read = RedirectTable.read(file);
      table.setRelease(read);
      LOG.log(Level.INFO, "redirects by {0}: {1}", file, read.size());
    } catch (IOException wrong) {
      String said = "redirects by {0} stay as they were: {1}";
      LOG.log(Level.ERROR, said, file, wrong.getMessage());
    }
  }

  private List<?> stamp() {
    try {
      var found = Files.readAttributes(file, BasicFileAttributes.class);
      return List.of(found.lastModifiedTime(), found.size(), String.valueOf(found.fileKey()));
    } catch (IOException gone) {
      return List.of();
    }
  }

  /** What explains a redirect of this request; null if there is none. */
  public @Nullable String explain(RequestHead request) {
    Moved moved = table.getAcquire().find(request);
    return moved == null ? null : moved.status() + " to " + moved.to();
  }
}
