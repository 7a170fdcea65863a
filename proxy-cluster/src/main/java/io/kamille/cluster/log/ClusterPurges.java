package io.kamille.cluster.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.ClusterEngine.Answer;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.cluster.log.PurgeReceipt.AtNode;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricSink;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The purges that are ordered at this node, and their way to all nodes. Any thread. */
public final class ClusterPurges implements AutoCloseable {

  /*
   * While one entry is appended, all later purges wait, and go into the next one. Then all members
   * are asked whether they have applied it, and each answers once it has. The next entry waits for
   * these answers, too, for some milliseconds: the more purges go into one, the less each costs.
   *
   *   order ─► queue ─► entry ─► majority ─► each node applies it ─► its answer
   *
   * An entry that nobody has confirmed is appended again: purges are known by their random number,
   * so a repetition does nothing. Who has ordered is told after a while that there is no quorum.
   * By then those that can be reached have purged without the log. The entry goes on waiting, so
   * that the others will. A file has the orders of which that was said, for the next process.
   *
   * A process that has left for the next one says so at once. Its purges hold at this node, whose
   * next process is told of them, and that one orders them.
   *
   * An answer to an unsafe request waits until this node has carried out what it makes invalid by
   * its number, or the file has it, not for other nodes. Equal ones that wait are one.
   *
   * Of what finds no room in the queue or in the file, one that purges everything takes the place.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final Duration NO_QUORUM = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 100;
  private static final Duration GATHER = Duration.ofMillis(50);
  static final int QUEUE_LIMIT = 10_000;
  static final int UNLOGGED_LIMIT = 4_000;
  static final int UNLOGGED_LIMIT_CHARS = 16 << 20;

  /** A longer message of JGroups ends the connection. */
  static final int AT_ONCE_LIMIT_OCTETS = 1 << 20;

  static final int WAITING_LIMIT = 2_000;
  static final int ENTRY_LIMIT = 1_000;
  private static final String TOO_LONG =
      "In a cluster, a purge must have "
          + PurgeOrder.LIMIT_OCTETS
          + " octets at the most, and a name 65535. Name less at a time.";
  private static final Duration SOON = Duration.ofMillis(100);
  private static final Duration STUCK = Duration.ofMillis(10);

  /** One that takes long to send is sent again and again. */
  static final int ENTRY_LIMIT_OCTETS = PurgeOrder.LIMIT_OCTETS;

  /** A message about purges that are in the log: their numbers. */
  public static final byte APPLIED = 1;

  /** A message with purges that are not in the log. */
  public static final byte AT_ONCE = 2;

  private static final MetricDescriptor APPEND =
      MetricDescriptor.histogram(
          "kamille_cluster_append_seconds",
          "How long an entry of purges took into the log, with all attempts.");
  private static final MetricDescriptor ANSWER =
      MetricDescriptor.histogram(
          "kamille_cluster_purge_answer_seconds",
          "How long a purge was waited for, until all nodes had answered or were given up.");
  private static final MetricDescriptor AWAY =
      MetricDescriptor.counter(
          "kamille_cluster_purges_away_total",
          "Purges in the log that some node had not confirmed in time.");

  /** What is measured of purges. */
  public static final List<MetricDescriptor> METRICS = List.of(APPEND, ANSWER, AWAY);

  private record Ordered(
      PurgeOrder order,
      CompletableFuture<PurgeReceipt> receipt,
      CompletableFuture<@Nullable Void> kept,
      AtomicBoolean isLogged,
      long nanos) {

    Ordered(PurgeOrder order) {
      this(
          order,
          new CompletableFuture<>(),
          new CompletableFuture<>(),
          new AtomicBoolean(),
          System.nanoTime());
    }
  }

  private final ClusterEngine engine;
  private final LogState state;
  private final LocalPurges local;
  private final Duration wait;
  private final @Nullable Duration safeAfter;
  private final SplittableRandom random = new SplittableRandom();
  private final BlockingQueue<Ordered> queue = new LinkedBlockingQueue<>();
  private final Histogram appends;

  @GuardedBy("answers")
  private final Histogram answers;

  @GuardedBy("answers")
  private final Counter away;

  private final Path file;

  /** What was begun here after this process had left; the next one takes it up. */
  private final Path left;

  private final Path taken;
  private volatile boolean isClosed;

  /** What the file has. */
  @GuardedBy("unlogged")
  private final Set<PurgeOrder> unlogged = new LinkedHashSet<>();

  /** What somebody waits for. */
  private final Set<Ordered> awaited = ConcurrentHashMap.newKeySet();

  /** What answers to unsafe requests have begun, and no entry has yet. */
  private final ConcurrentMap<List<Object>, Ordered> begun = new ConcurrentHashMap<>();

  /** Those of them that neither the log nor the file has. */
  private final Set<Ordered> unkept = ConcurrentHashMap.newKeySet();

  private final AtomicBoolean isKeeping = new AtomicBoolean();

  /** Whether so many wait that it was told. */
  private final AtomicBoolean areMany = new AtomicBoolean();

  private volatile boolean isStuck;
  private final Thread appender;
  private volatile boolean isEverythingDue;

  /**
   * Begins to append what is ordered.
   *
   * @param wait how long answers of nodes are waited for
   * @param safeAfter after which a node that is away serves nothing that was purged; null if it
   *     does
   * @param file of the orders that are not in the log
   */
  public ClusterPurges(
      ClusterEngine engine,
      LogState state,
      LocalPurges local,
      Duration wait,
      @Nullable Duration safeAfter,
      Path file,
      MetricSink metrics) {
    this.engine = engine;
    this.state = state;
    this.local = local;
    this.wait = wait;
    this.safeAfter = safeAfter;
    appends = metrics.histogram(APPEND);
    answers = metrics.histogram(ANSWER);
    away = metrics.counter(AWAY);
    this.file = file;
    left = file.resolveSibling(file.getFileName() + ".left");
    taken = file.resolveSibling(file.getFileName() + ".taken");
    takeUp(file);
    takeUp(taken);
    SteadyTask appending = new SteadyTask(LOG, "purges were not appended", this::appendNext);
    appender =
        Thread.ofVirtual().name("kamille-purges").start(() -> appending.repeatUntil(() -> false));
  }

  /**
   * Purges at all nodes; waits for their answers.
   *
   * @throws IllegalArgumentException if the log has no entry for so much; it says how much it has
   */
  public PurgeReceipt purge(Scope kind, List<String> names, boolean isSoft) {
    long begun = System.nanoTime();
    PurgeReceipt receipt = awaited(order(kind, names, isSoft));
    synchronized (answers) {
      answers.record(System.nanoTime() - begun);
      if (receipt.isLogged() && !receipt.isComplete()) {
        away.increment();
      }
    }
    return receipt;
  }

  private PurgeReceipt awaited(Ordered ordered) {
    awaited.add(ordered);
    if (isClosed) {
      giveUp(ordered);
    }
    try {
      return ordered.receipt().get(NO_QUORUM.plus(wait).toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException | CancellationException late) {
      keep(List.of(ordered));
      return withoutLog(List.of(ordered.order()));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return withoutLog(List.of(ordered.order()));
    } finally {
      awaited.remove(ordered);
    }
  }

  private static void giveUp(Ordered ordered) {
    if (!ordered.isLogged().get()) {
      ordered.receipt().cancel(false);
    }
  }

  /** Whether the next process of this node is to order what is purged here. */
  public boolean hasLeft() {
    return isClosed;
  }

  // What outlives the process

  private void keep(List<Ordered> late) {
    synchronized (unlogged) {
      boolean isNew = false;
      if (isClosed && unlogged.size() > UNLOGGED_LIMIT && !Files.exists(left)) {
        // The next process has taken what was there.
        unlogged.clear();
      }
      long room = UNLOGGED_LIMIT_CHARS - unlogged.stream().mapToLong(PurgeOrder::length).sum();
      for (Ordered ordered : late) {
        if (!ordered.isLogged().get() && unlogged.size() <= UNLOGGED_LIMIT && room >= 0) {
          room -= ordered.order().length();
          boolean isRoom = unlogged.size() < UNLOGGED_LIMIT && room >= 0;
          boolean isTaken = isRoom || ordered.order().kind() == Scope.ALL;
          isNew |= unlogged.add((isTaken ? ordered : everything(unlogged.size())).order());
        }
      }
      if (isNew) {
        write();
      }
    }
    late.forEach(ordered -> ordered.kept().complete(null));
  }

  private void logged(List<Ordered> entry) {
    synchronized (unlogged) {
      entry.forEach(ordered -> ordered.isLogged().set(true));
      // An interrupted thread writes no file. The next process repeats these, which does nothing.
      if (unlogged.removeAll(entry.stream().map(Ordered::order).toList()) && !isClosed) {
        write();
      }
    }
  }

  @GuardedBy("unlogged")
  private void write() {
    PlaceFile.replace(isClosed ? left : file, PurgeOrder.octets(unlogged));
  }

  /** Orders what an earlier process could not. */
  private void takeUp(Path from) {
    synchronized (unlogged) {
      List<PurgeOrder> orders = List.of();
      try {
        orders = PurgeOrder.read(Files.readAllBytes(from));
      } catch (IOException none) {
        LOG.log(Level.DEBUG, "no purge waits for the log: {0}", none.getMessage());
      }
      if (!orders.stream().allMatch(PurgeOrder::isReadable)) {
        orders = List.of(newOrder(Scope.ALL, List.of(), false));
      }
      keep(orders.stream().map(order -> queued(new Ordered(order))).toList());
    }
  }

  /** Orders what the process before this one was told while it ended. Not on a loop. */
  public void takeLeft() {
    if (!Files.exists(left)) {
      return;
    }
    synchronized (unlogged) {
      try {
        Files.move(left, taken, StandardCopyOption.ATOMIC_MOVE);
        takeUp(taken);
        if (!Thread.currentThread().isInterrupted()) {
          Files.delete(taken);
        }
      } catch (IOException refused) {
        LOG.log(Level.WARNING, "purges of the process before: {0}", refused.getMessage());
      }
    }
  }

  // What answers to unsafe requests make invalid

  /**
   * Purges at all nodes soon, and does not wait.
   *
   * @return completes once the log has them all, or a file for the next process
   */
  public CompletionStage<?> begin(List<PurgeTarget> targets) {
    return CompletableFuture.allOf(
        targets.stream().map(target -> begun(target).kept()).toArray(CompletableFuture[]::new));
  }

  private Ordered begun(PurgeTarget target) {
    Ordered ordered =
        isClosed || queue.size() < QUEUE_LIMIT ? once(target) : everything(QUEUE_LIMIT);
    if (!ordered.kept().isDone()) {
      unkept.add(ordered);
      keepSoon();
    }
    return ordered;
  }

  /** One that waits already does for an equal one; of very many, those of an origin are one. */
  private Ordered once(PurgeTarget target) {
    String url = target.names().getFirst();
    RequestHead request = target.kind() == Scope.URL ? CacheKey.request(url) : null;
    Ordered asked =
        new Ordered(
            request == null
                ? newOrder(target.kind(), target.names(), false)
                : newOrder(Scope.URL, PurgeOrder.invalid(url), false));
    boolean isMany = !isClosed && queue.size() >= WAITING_LIMIT;
    if (isMany && !areMany.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "more than {0} purges wait for the log of the cluster. Of further origins, all is purged",
          WAITING_LIMIT);
    }
    if (!asked.order().isReadable() || isMany) {
      List<String> names =
          request == null ? target.names().subList(0, 1) : PurgeTarget.originOf(request).names();
      asked = new Ordered(newOrder(Scope.GROUP, names, false));
    }
    // What has left takes nothing from the queue.
    Ordered before = isClosed ? null : begun.putIfAbsent(asked.order().about(), asked);
    if (before != null) {
      return before;
    }
    queue.add(asked);
    return asked;
  }

  private void keepSoon() {
    if (!unkept.isEmpty() && !isKeeping.getAndSet(true)) {
      Thread.startVirtualThread(this::keepBegun);
    }
  }

  /** Writes down what is not in the log after a moment, and has those purge it that are there. */
  private void keepBegun() {
    long patience = (isStuck || isClosed ? STUCK : SOON).toNanos();
    LockSupport.parkNanos(patience);
    long now = System.nanoTime();
    unkept.removeIf(ordered -> ordered.kept().isDone());
    List<Ordered> late =
        unkept.stream()
            .filter(ordered -> !ordered.isLogged().get() && now - ordered.nanos() >= patience / 2)
            .toList();
    try {
      keep(late);
    } finally {
      isKeeping.set(false);
    }
    keepSoon();
    if (!late.isEmpty()) {
      withoutLog(late.stream().map(Ordered::order).toList());
    }
  }

  private PurgeOrder newOrder(Scope kind, List<String> names, boolean isSoft) {
    long id;
    synchronized (random) {
      id = random.nextLong();
    }
    return new PurgeOrder(id, kind, names, isSoft, Instant.now().getEpochSecond());
  }

  private Ordered order(Scope kind, List<String> names, boolean isSoft) {
    Ordered ordered = new Ordered(newOrder(kind, names, isSoft));
    if (!ordered.order().isReadable()) {
      throw new IllegalArgumentException(TOO_LONG);
    }
    return queued(ordered);
  }

  /** This one, or if there is no room for it, one that purges everything. */
  private Ordered queued(Ordered ordered) {
    if (queue.size() >= QUEUE_LIMIT) {
      return everything(QUEUE_LIMIT);
    }
    queue.add(ordered);
    return ordered;
  }

  /** One that purges everything, and has not begun its way into the log. */
  private Ordered everything(int limit) {
    Ordered all = new Ordered(newOrder(Scope.ALL, List.of(), false));
    Ordered before = isClosed ? null : begun.putIfAbsent(all.order().about(), all);
    if (before != null) {
      return before;
    }
    LOG.log(
        Level.WARNING,
        "more than {0} purges wait for the log of the cluster. Everything is purged instead",
        limit);
    queue.add(all);
    return all;
  }

  // The way into the log

  private void appendNext() throws InterruptedException {
    try {
      if (isEverythingDue) {
        isEverythingDue = false;
        order(Scope.ALL, List.of(), false);
      }
      List<Ordered> entry = new ArrayList<>();
      entry.add(queue.take());
      int room = ENTRY_LIMIT_OCTETS - entry.getFirst().order().length();
      for (Ordered next = queue.peek();
          next != null && entry.size() < ENTRY_LIMIT && next.order().length() <= room;
          next = queue.peek()) {
        entry.add(queue.remove());
        room -= next.order().length();
      }
      append(entry);
    } catch (RuntimeException | Error fault) {
      // Orders that were taken from the queue may be lost.
      isEverythingDue = true;
      throw fault;
    }
  }

  private void append(List<Ordered> entry) throws InterruptedException {
    // An equal one that comes from now on may be about something newer.
    entry.forEach(ordered -> begun.remove(ordered.order().about(), ordered));
    byte[] octets = LogState.purges(entry.stream().map(Ordered::order).toList());
    long begun = System.nanoTime();
    byte[] numbers = engine.append(octets, ClusterEngine.ATTEMPT);
    while (numbers == null) {
      isStuck = true;
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      numbers = engine.append(octets, ClusterEngine.ATTEMPT);
    }
    isStuck = false;
    appends.record(System.nanoTime() - begun);
    byte[] known = numbers;
    logged(entry);
    if (queue.size() < WAITING_LIMIT) {
      areMany.set(false);
    }
    // Only then no answer of a node that knows less is taken over here.
    state.whenApplied(
        last(numbers(ByteBuffer.wrap(known))),
        () -> entry.forEach(ordered -> ordered.kept().complete(null)));
    Thread.startVirtualThread(() -> confirm(entry, known)).join(GATHER);
  }

  /** Asks all members for what they have done, and tells those who have ordered it. */
  private void confirm(List<Ordered> entry, byte[] numbers) {
    Map<String, byte[]> answers = engine.ask(ClusterEngine.message(APPLIED, numbers), wait);
    for (int i = 0; i < entry.size(); i++) {
      long number = ByteBuffer.wrap(numbers).getLong(i * Long.BYTES);
      entry.get(i).receipt().complete(receipt(number, answers, i));
    }
  }

  private PurgeReceipt withoutLog(List<PurgeOrder> orders) {
    byte[] octets = PurgeOrder.octets(orders);
    if (octets.length > AT_ONCE_LIMIT_OCTETS) {
      octets = PurgeOrder.octets(List.of(newOrder(Scope.ALL, List.of(), false)));
    }
    return receipt(0, engine.ask(ClusterEngine.message(AT_ONCE, octets), wait), 0);
  }

  private PurgeReceipt receipt(long number, Map<String, byte[]> answers, int place) {
    Set<String> nodes = new TreeSet<>(state.nodes());
    nodes.addAll(engine.members());
    nodes.addAll(answers.keySet());
    List<AtNode> done = new ArrayList<>();
    for (String node : nodes) {
      byte[] counts = answers.get(node);
      int at = place * Long.BYTES;
      done.add(
          counts == null || counts.length < at + Long.BYTES
              ? new AtNode(node, false, 0)
              : new AtNode(node, true, ByteBuffer.wrap(counts).getLong(at)));
    }
    boolean isComplete = number > 0 && done.stream().allMatch(AtNode::isDone);
    return new PurgeReceipt(number, isComplete ? Duration.ZERO : safeAfter, done);
  }

  // What others ask

  /**
   * Answers the question of another node, or of this one.
   *
   * @param message its first octet is {@link #APPLIED} or {@link #AT_ONCE}
   * @throws IOException if it is no question about purges
   */
  public void asked(byte[] message, Answer answer) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(message);
    byte kind = message.length == 0 ? 0 : in.get();
    if (kind == APPLIED && in.remaining() % Long.BYTES == 0 && in.hasRemaining()) {
      long[] numbers = numbers(in);
      engine.hurry();
      // While the process before this one still serves, it purges a moment later.
      state.answerWhenApplied(
          last(numbers), () -> answer.send(local.isAlone() ? counts(numbers) : new byte[0]));
    } else if (kind == AT_ONCE) {
      byte[] octets = new byte[in.remaining()];
      in.get(octets);
      List<PurgeOrder> orders = PurgeOrder.read(octets);
      ByteBuffer counts = ByteBuffer.allocate(orders.size() * Long.BYTES);
      for (PurgeOrder order : orders) {
        counts.putLong(state.purge(0, order));
      }
      answer.send(counts.array());
    } else {
      throw new IOException("a question of a later release");
    }
  }

  private static long[] numbers(ByteBuffer in) {
    long[] numbers = new long[in.remaining() / Long.BYTES];
    in.asLongBuffer().get(numbers);
    return numbers;
  }

  private static long last(long[] numbers) {
    return Arrays.stream(numbers).max().orElse(0);
  }

  private byte[] counts(long[] numbers) {
    ByteBuffer counts = ByteBuffer.allocate(numbers.length * Long.BYTES);
    for (long number : numbers) {
      counts.putLong(state.count(number));
    }
    return counts.array();
  }

  /** Makes a node known to all from now on, or forgotten; whether a majority has taken it down. */
  public boolean known(String node, boolean isKnown) {
    return engine.append(LogState.node(node, isKnown), ClusterEngine.ATTEMPT) != null;
  }

  /** How many purges wait for a quorum. */
  public int waiting() {
    return queue.size();
  }

  /**
   * Ends. Who waits is told that it is not in the log. That, and what answers to unsafe requests
   * begin, is left to the next process, also from now on.
   */
  @Override
  public void close() {
    isClosed = true;
    synchronized (unlogged) {
      // Not while it writes the file.
      appender.interrupt();
    }
    awaited.forEach(ClusterPurges::giveUp);
    keep(List.copyOf(unkept));
  }
}
