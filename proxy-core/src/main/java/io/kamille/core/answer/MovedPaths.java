package io.kamille.core.answer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.Problems;
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

  private final Path file;
  private final ExchangeHandler next;
  private final Executor files;
  private final WallClock clock;
  private final AtomicReference<RedirectTable> table = new AtomicReference<>(RedirectTable.EMPTY);
  private final AtomicLong looked;

  @GuardedBy("this")
  private @Nullable List<?> seen;

  /**
   * Goes by a file, which it reads now: blocks.
   *
   * @param files reads it later
   */
  public MovedPaths(Path file, ExchangeHandler next, Executor files, WallClock clock) {
    this.file = file;
    this.next = next;
    this.files = files;
    this.clock = clock;
    this.looked = new AtomicLong(clock.nanos());
    look();
  }

  /** What it goes by now. */
  public RedirectTable table() {
    return table.getAcquire();
  }

  @Override
  public void handle(Exchange exchange) {
    lookIfDue();
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
    var found = new Problems(file.toString());
    try {
      RedirectTable read = RedirectTable.read(file, found);
      if (found.isEmpty()) {
        table.setRelease(read);
        LOG.log(Level.INFO, "redirects by {0}: {1}", file, read.size());
      }
    } catch (IOException unreadable) {
      found.addUnreadable(unreadable);
    }
    if (!found.isEmpty()) {
      LOG.log(Level.ERROR, "redirects by {0} stay as they were: {1}", file, found.shortened());
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
}
