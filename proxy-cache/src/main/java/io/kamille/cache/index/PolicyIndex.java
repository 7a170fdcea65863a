package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.time.WallClock;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** An index under W-TinyLFU or LRU, or whichever of the two hits more. Any thread. */
public final class PolicyIndex implements ResponseIndex {

  /*
   * Lookups go to a table of their own and take no lock. What they found is noted in a buffer, of which
   * there are several so that loops do not meet in one; who finds it half full empties it into the
   * order, if nobody else holds the lock just then. Everything that changes the index takes the lock,
   * for about a microsecond, and gives memory back after it has left it.
   *
   * One order for all, rather than one for each of several parts, means that what is forgotten is the
   * coldest of all, and that a large object competes with what has to leave for it wherever that is
   * (ADR 17).
   *
   * Weights are counted in units of 64 octets, the arena's granule, so that 29 bits hold the weight
   * of 32 GiB. Each key is charged what it takes on the heap too; that is granted before the key comes
   * in, and given back when it has left.
   */
  static final int UNIT_BYTES = 64;

  private static final int HEAP_BYTES_PER_KEY = 48;
  private static final long EXPECTED_OBJECT_BYTES = 16 << 10;
  static final long GHOST_LEAST_BYTES = 32L << 20;
  private static final int BUFFERS_MAXIMUM = 64;
  private static final int ROUNDS = 8;

  private final EntryTable entries = new EntryTable();
  private final TouchBuffer[] buffers = new TouchBuffer[bufferCount()];
  private final LongAdder evictions = new LongAdder();
  private final HeapBudget heap;
  private final WallClock clock;

  /** Guards what follows it, and every change of the entries. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Replacement order;
  private final PolicyJudge judge;
  private long heapUnits;

  /**
   * An index that begins to evict when what is in it weighs more than {@code capacityBytes}.
   *
   * @param clock tells since when a policy is chosen
   */
  public PolicyIndex(long capacityBytes, PolicyChoice choice, WallClock clock) {
    this(capacityBytes, choice, HeapBudget.UNLIMITED, clock);
  }

  /** As the other one, and what it takes on the heap is asked for. */
  public PolicyIndex(long capacityBytes, PolicyChoice choice, HeapBudget heap, WallClock clock) {
    long units = capacityBytes / UNIT_BYTES;
    this.heap = heap;
    this.clock = clock;
    this.order = new Replacement(choice.first(), units, capacityBytes / EXPECTED_OBJECT_BYTES);
    this.judge =
        new PolicyJudge(choice, units, GHOST_LEAST_BYTES / UNIT_BYTES, clock.epochSeconds());
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = new TouchBuffer();
    }
  }

  private static int bufferCount() {
    int wanted = Math.min(BUFFERS_MAXIMUM, 2 * Runtime.getRuntime().availableProcessors());
    return Integer.highestOneBit(wanted);
  }

  /** A key of the sample that was asked for and is not there. */
  private static final class Absent extends Node {

    private final long hash;

    Absent(long hash) {
      this.hash = hash;
    }

    @Override
    long hash() {
      return hash;
    }
  }

  @Override
  public @Nullable Variants find(CacheKey key) {
    Entry entry = entries.find(key);
    if (entry != null) {
      note(entry);
      return entry.variants();
    }
    if (judge.samples(key.high())) {
      note(new Absent(key.low()));
    }
    return null;
  }

  private void note(Node node) {
    int own = (int) Thread.currentThread().threadId() & (buffers.length - 1);
    if (buffers[own].put(node) && lock.tryLock()) {
      try {
        empty(buffers[own]);
      } finally {
        lock.unlock();
      }
    }
  }

  private void empty(TouchBuffer buffer) {
    for (Node node = buffer.take(); node != null; node = buffer.take()) {
      if (node instanceof Entry entry) {
        order.touch(entry);
        if (entry.isListed() && judge.samples(entry.high())) {
          judge.found(entry.hash(), entry.units());
        }
      } else {
        judge.missed(node.hash());
      }
    }
    follow(judge.advice());
  }

  private void follow(Policy advice) {
    if (advice != order.policy() && order.choose(advice)) {
      judge.switched(advice, clock.epochSeconds());
    }
  }

  /** What was noted before a change comes before it, as far as this thread knows. */
  private void emptyAll() {
    for (TouchBuffer buffer : buffers) {
      empty(buffer);
    }
  }

  @Override
  public void put(CacheKey key, StoredResponse response) {
    if (!put(key, response, () -> true)) {
      response.forget();
    }
  }

  @Override
  public boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent) {
    int granted = heapUnits(response);
    if (!obtain(granted)) {
      return false;
    }
    Variants before = null;
    Variants after = response;
    Entry out;
    lock.lock();
    try {
      if (!isCurrent.getAsBoolean()) {
        giveBack(granted);
        return false;
      }
      emptyAll();
      Entry entry = entries.find(key);
      if (entry == null) {
        entry = new Entry(key, after);
        entries.add(entry);
        order.add(entry, units(after));
      } else {
        before = entry.present();
        granted += heapUnits(before);
        after = before.with(response);
        entry.put(after);
        order.weigh(entry, units(after));
        order.touch(entry);
      }
      int needed = heapUnits(after);
      heapUnits += needed - (before == null ? 0 : heapUnits(before));
      giveBack(granted - needed);
      if (judge.samples(key.high())) {
        judge.stored(entry.hash(), entry.units());
      }
      out = takeSurplus();
    } finally {
      lock.unlock();
    }
    if (before != null) {
      before.releaseExcept(after);
    }
    release(out);
    return true;
  }

  /** Has that much of the heap granted, by forgetting what is coldest if need be. */
  private boolean obtain(int units) {
    long bytes = (long) units * UNIT_BYTES;
    for (int round = 0; round < ROUNDS; round++) {
      if (heap.charge(bytes)) {
        return true;
      }
      if (evict(bytes) == 0) {
        return false;
      }
    }
    return heap.charge(bytes);
  }

  private void giveBack(int units) {
    boolean isGranted = heap.charge((long) -units * UNIT_BYTES);
    assert isGranted : "less is always granted";
  }

  /** Takes out what there is no room for; each entry's next is another one. */
  private @Nullable Entry takeSurplus() {
    Entry chain = null;
    for (Node out = order.takeSurplus(); out != null; out = order.takeSurplus()) {
      chain = forget((Entry) out, chain);
    }
    return chain;
  }

  /** Puts an entry that has left the order before others that have. */
  private Entry forget(Entry entry, @Nullable Entry others) {
    entries.remove(entry);
    heapUnits -= heapUnits(entry.present());
    entry.next = others;
    evictions.increment();
    return entry;
  }

  private void release(@Nullable Entry chain) {
    Entry entry = chain;
    while (entry != null) {
      Entry next = (Entry) entry.next;
      entry.next = null;
      end(entry);
      entry = next;
    }
  }

  /** Ends the leases of an entry that has left, and what it is charged. */
  private Variants end(Entry entry) {
    Variants last = entry.end();
    giveBack(heapUnits(last));
    last.releaseExcept(null);
    return last;
  }

  @Override
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    Variants before;
    Variants after;
    Entry out = null;
    lock.lock();
    try {
      Entry entry = entries.find(key);
      if (entry == null || !entry.present().contains(one)) {
        return false;
      }
      before = entry.present();
      after = before.replacing(one, other);
      if (after == null) {
        leave(entry);
        entry.end();
        giveBack(heapUnits(before));
      } else {
        int more = heapUnits(after) - heapUnits(before);
        if (!heap.charge((long) more * UNIT_BYTES)) {
          return false;
        }
        heapUnits += more;
        entry.put(after);
        order.weigh(entry, units(after));
        out = takeSurplus();
      }
    } finally {
      lock.unlock();
    }
    before.releaseExcept(after);
    release(out);
    return true;
  }

  /** Takes an entry out for another reason than want of room. */
  private void leave(Entry entry) {
    entries.remove(entry);
    order.remove(entry);
    heapUnits -= heapUnits(entry.present());
    if (judge.samples(entry.high())) {
      judge.removed(entry.hash());
    }
  }

  @Override
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    for (int part = 0; part < EntryTable.PARTS; part++) {
      for (Entry entry : entriesOf(part)) {
        Variants variants = entry.variants();
        if (variants != null) {
          reader.accept(entry.key(), variants);
        }
      }
    }
  }

  private Entry[] entriesOf(int part) {
    lock.lock();
    try {
      return entries.part(part);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int remove(CacheKey key) {
    Entry entry;
    lock.lock();
    try {
      entry = entries.find(key);
      if (entry == null) {
        return 0;
      }
      leave(entry);
    } finally {
      lock.unlock();
    }
    return end(entry).size();
  }

  @Override
  public int clear() {
    int removed = 0;
    for (int part = 0; part < EntryTable.PARTS; part++) {
      for (Entry entry : entriesOf(part)) {
        removed += remove(entry.key());
      }
    }
    return removed;
  }

  @Override
  public long evict(long bytes) {
    long evicted = 0;
    Entry chain = null;
    lock.lock();
    try {
      emptyAll();
      while (evicted < bytes) {
        Entry entry = (Entry) order.takeColdest();
        if (entry == null) {
          break;
        }
        evicted +=
            entry.present().allOccupiedBytes() + (long) heapUnits(entry.present()) * UNIT_BYTES;
        chain = forget(entry, chain);
      }
    } finally {
      lock.unlock();
    }
    release(chain);
    return evicted;
  }

  @Override
  public boolean admits(CacheKey key, long bytes) {
    lock.lock();
    try {
      emptyAll();
      return order.admits(key.low(), Math.ceilDiv(bytes, UNIT_BYTES));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long size() {
    return entries.size();
  }

  @Override
  public long weightBytes() {
    lock.lock();
    try {
      return order.units() * UNIT_BYTES;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long heapBytes() {
    lock.lock();
    try {
      return heapUnits * UNIT_BYTES;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long evictions() {
    return evictions.sum();
  }

  @Override
  public void choose(PolicyChoice choice) {
    lock.lock();
    try {
      judge.choose(choice);
      follow(judge.advice());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public PolicySnapshot policy() {
    lock.lock();
    try {
      emptyAll();
      return judge.snapshot();
    } finally {
      lock.unlock();
    }
  }

  private static int units(Variants variants) {
    long units = Math.ceilDiv(variants.allOccupiedBytes(), UNIT_BYTES) + (long) heapUnits(variants);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  /** What a key and what is under it take on the heap, nearly. */
  private static int heapUnits(Variants variants) {
    return (int) Math.ceilDiv(HEAP_BYTES_PER_KEY + variants.heapBytes(), UNIT_BYTES);
  }
}
