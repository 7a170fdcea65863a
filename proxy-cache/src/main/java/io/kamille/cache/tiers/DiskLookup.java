package io.kamille.cache.tiers;

import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.LentRecord;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.DiskLookupMetrics.Outcome;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One look for what a request selects among the copies of its key, and the requests that wait for
 * it. Run once, by a thread that may wait for the disk; joined from any loop.
 */
final class DiskLookup implements Runnable {

  /*
   * Who waits is a list that only grows, until it is taken whole, and closed, when the look has
   * ended. Each is given a lease of its own: the response may leave memory before its loop gets to
   * it.
   *
   * The first is the one whose request is looked for. Others may select another copy of the key:
   * they look again, each round for one more of them, until their time is over.
   */
  private static final class Waiting {

    private final HeldRequest request;
    private final @Nullable Waiting next;

    Waiting(HeldRequest request, @Nullable Waiting next) {
      this.request = request;
      this.next = next;
    }
  }

  private static final Waiting CLOSED = new Waiting(HeldRequest.NOBODY, null);

  /** Told once, before those who wait, how a look has ended. */
  @FunctionalInterface
  interface Observer {

    /** On the thread that looked, or the loop that could not begin to. */
    void ended(DiskLookup lookup, Outcome outcome);
  }

  /**
   * How much of the content is read before a response is sent from its file; the rest is when it is
   * its turn.
   */
  private static final long FETCH_BYTES = 2 << 20;

  private final Observer observer;
  private final TieredStore store;
  private final DiskCopies copies;
  private final Executor readers;
  private final CacheKey key;
  private final RequestHead request;
  private final long changes;
  private final int home;
  private final long sendFromBytes;
  private final long beginNanos;
  private final AtomicReference<@Nullable Waiting> waiting = new AtomicReference<>();
  private boolean isWithoutMemory;
  private boolean isBroken;
  private boolean isWanted;

  /** What tells the copies apart that the request does not select; complete when it has ended. */
  private final List<SelectingFields> unwanted = new ArrayList<>();

  /**
   * A look that is to be run.
   *
   * @param readers threads that read more of a response that is sent from the disk
   * @param key kept
   * @param request kept; nobody else changes it
   * @param changes what {@link TieredStore#changes} said
   * @param home the number of the loop of the first that waits
   * @param sendFromBytes records that long, or longer, stay on the disk
   */
  DiskLookup(
      Observer observer,
      TieredStore store,
      DiskCopies copies,
      Executor readers,
      CacheKey key,
      RequestHead request,
      long changes,
      int home,
      long sendFromBytes) {
    this.observer = observer;
    this.store = store;
    this.copies = copies;
    this.readers = readers;
    this.key = key;
    this.request = request;
    this.changes = changes;
    this.home = home;
    this.sendFromBytes = sendFromBytes;
    this.beginNanos = copies.peak().begin();
  }

  /** Adds one that waits; false if it has ended. */
  boolean join(HeldRequest held) {
    while (true) {
      Waiting before = waiting.get();
      if (before == CLOSED) {
        return false;
      }
      if (waiting.compareAndSet(before, new Waiting(held, before))) {
        return true;
      }
    }
  }

  @Override
  public void run() {
    StoredResponse found = null;
    Outcome outcome = Outcome.FAILED;
    long runNanos = copies.peak().run();
    try {
      found = look();
      outcome = outcome(found);
    } finally {
      copies.peak().end(beginNanos, runNanos);
      observer.ended(this, outcome);
      tell(found);
    }
  }

  /**
   * Whether nothing was removed or stored under the key since the disk was looked at. Any thread.
   */
  private boolean isCurrent() {
    return store.changes(key) == changes;
  }

  private Outcome outcome(@Nullable StoredResponse found) {
    if (found != null) {
      return found.content().isInFile() ? Outcome.SENT : Outcome.FOUND;
    }
    if (isWithoutMemory) {
      return Outcome.NO_MEMORY;
    }
    return isBroken ? Outcome.FAILED : Outcome.NONE;
  }

  CacheKey key() {
    return key;
  }

  /** It will not be run. Tells all but the one that goes on by itself. */
  void refuse(HeldRequest own) {
    copies.peak().refuse();
    observer.ended(this, Outcome.FULL);
    for (Waiting next = waiting.getAndSet(CLOSED); next != null; next = next.next) {
      if (next.request != own) {
        next.request.tell(null, this::isCurrent, _ -> false);
      }
    }
  }

  /** Takes over one lease. */
  private void tell(@Nullable StoredResponse found) {
    for (Waiting next = waiting.getAndSet(CLOSED); next != null; next = next.next) {
      if (found != null) {
        found.retain();
      }
      boolean isFirst = next.next == null;
      next.request.tell(
          found, this::isCurrent, isFirst ? _ -> false : another -> isThereAnother(found, another));
    }
    if (found != null) {
      found.release();
    }
  }

  /** Whether a copy that was not wanted, or not looked at, may be what that request selects. */
  private boolean isThereAnother(@Nullable StoredResponse found, RequestHead another) {
    return found == null
        ? unwanted.stream().anyMatch(selecting -> selecting.matches(another))
        : !found.selecting().matches(another);
  }

  /** The response, with a lease that the caller owns; or null. */
  private @Nullable StoredResponse look() {
    for (Extent extent : copies.find(key)) {
      StoredResponse found = look(extent);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private @Nullable StoredResponse look(Extent extent) {
    if (extent.length() >= sendFromBytes) {
      return lend(extent);
    }
    StoredResponse promoted = promote(extent);
    return promoted == null && isWithoutMemory && sendFromBytes != Long.MAX_VALUE
        ? lend(extent)
        : promoted;
  }

  private @Nullable StoredResponse lend(Extent extent) {
    isWanted = false;
    boolean isWhole = request.method() != Method.HEAD && !request.fields().has(FieldName.RANGE);
    LentRecord lent = copies.lend(key, extent, this::isWanted, isWhole ? FETCH_BYTES : 0, readers);
    isBroken |= isWanted && lent == null;
    return lent == null ? null : store.lend(key, response(lent), changes, lent.sequence());
  }

  private boolean isWanted(StoredHead head) {
    isWanted = head.selecting().matches(request);
    if (!isWanted) {
      unwanted.add(head.selecting());
    }
    return isWanted;
  }

  private static StoredResponse response(LentRecord lent) {
    StoredHead head = lent.head();
    return StoredResponse.of(head.encoded(), lent.octets(), head.facts(), head.selecting())
        .with(head.isCodable() ? CodedForms.NOT_YET : CodedForms.NEVER);
  }

  private @Nullable StoredResponse promote(Extent extent) {
    Promotion promotion =
        new Promotion(store, key, changes, home, (head, length) -> isWanted(head));
    try {
      boolean isProven = copies.read(key, extent, promotion);
      isWithoutMemory |= promotion.isWithoutMemory();
      isBroken |= !isProven && promotion.isUnderWay();
      return isProven ? promotion.complete() : null;
    } finally {
      promotion.abandon();
    }
  }
}
