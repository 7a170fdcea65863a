package io.kamille.cluster.log;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cluster.config.ConfigChanges;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.cluster.engine.PlaceFile.Place;
import io.kamille.cluster.secret.LoggedValues;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the entries of the log make: numbered purges, and the nodes that are known. Each purge is
 * carried out here as it comes. Any thread.
 */
public final class LogState implements ClusterEngine.ReplicatedState {

  /*
   * An entry is an octet of its kind, and then
   *
   *   PURGES   the number that names the log if this is its first entry, and orders
   *   NODE     whether it is known from now on, and its name
   *   and those of ConfigChanges and LoggedValues
   *
   * A kind that a later release brings goes on with the name of that release, as UTF.
   *
   * The last purges are kept for nodes that were away. One that was away for more of them drops
   * all that it has.
   *
   * The engine plays the log again at each start. Whatever was carried out by an earlier process,
   * and holds for this one, is not carried out again: it would take what was stored since.
   */
  static final byte PURGES = 1;
  static final byte NODE = 2;

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final String UNREAD =
      "purge {0} of the cluster cannot be carried out by this release. All that was stored here is"
          + " purged instead. Upgrade this node";

  static final int KEPT_LIMIT = 100_000;
  static final int KEPT_LIMIT_BYTES = 16 << 20;
  static final int COUNTS_LIMIT = 10_000;
  static final int QUESTIONS_LIMIT = 10_000;
  static final int LAST_LIMIT = 20;
  private static final Pattern RELEASE = Pattern.compile("[0-9A-Za-z.-]{1,32}");

  private record Numbered(long number, PurgeOrder order, int octets) {}

  private record Waiting(long number, Runnable action) {}

  private final LocalPurges local;
  private final PlaceFile file;
  private final LongAdder unread = new LongAdder();
  private final ConfigChanges config = new ConfigChanges();
  private final LoggedValues values = new LoggedValues();
  private Place done;
  // Volatile, as the nodes are: reports and metrics do not wait for purges.
  private volatile long log;
  // Volatile: loops read it. A purge is carried out before this says so.
  private volatile long last;
  private volatile long begun;
  private long keptOctets;
  private final Deque<Numbered> kept = new ArrayDeque<>();
  private final Map<Long, Long> numbers = new HashMap<>();
  private volatile Set<String> nodes = Set.of();
  private final Map<Long, Long> counts =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > COUNTS_LIMIT;
        }
      };
  private final Deque<String> entries = new ArrayDeque<>();
  private long saved;
  private final List<Waiting> waiting = new ArrayList<>();

  /** Of other nodes, which ask for some seconds. */
  private final Deque<Waiting> questions = new ArrayDeque<>();

  /**
   * A state without entries.
   *
   * @param file where is noted how far an earlier process has come
   */
  public LogState(LocalPurges local, PlaceFile file) {
    this.local = local;
    this.file = file;
    this.done = file.read();
  }

  /** The random number of the log; 0 before its first purge. */
  public long log() {
    return log;
  }

  /** The number of the last purge that is carried out here. */
  public long applied() {
    return last;
  }

  /** The changes of the configuration. */
  public ConfigChanges config() {
    return config;
  }

  /** The values that all nodes have. */
  public LoggedValues values() {
    return values;
  }

  /** The nodes that are known, members or not. */
  public Set<String> nodes() {
    return nodes;
  }

  /**
   * The number of the last purge that may be carried out here: what begins meanwhile comes after it
   * in the cache's table, so no other node may know less.
   */
  public long begun() {
    return begun;
  }

  /** What the last entries are about, the newest first. */
  public synchronized List<String> lastEntries() {
    return List.copyOf(entries);
  }

  /** The number of the last purge of the last snapshot; 0 before the first one. */
  public synchronized long saved() {
    return saved;
  }

  private void note(String entry) {
    entries.addFirst(entry);
    if (entries.size() > LAST_LIMIT) {
      entries.removeLast();
    }
  }

  /** Runs that once the purge of that number is carried out here. */
  void whenApplied(long number, Runnable action) {
    if (!waits(number, action, waiting)) {
      action.run();
    }
  }

  /** As that, for the question of a node. Of very many, the oldest gets no answer. */
  void answerWhenApplied(long number, Runnable answer) {
    if (!waits(number, answer, questions)) {
      answer.run();
    }
  }

  private synchronized boolean waits(long number, Runnable action, Collection<Waiting> line) {
    if (number <= last) {
      return false;
    }
    line.add(new Waiting(number, action));
    if (questions.size() > QUESTIONS_LIMIT) {
      questions.removeFirst();
    }
    return true;
  }

  /** What no longer waits. */
  private List<Waiting> ready() {
    List<Waiting> ready =
        Stream.of(waiting, questions)
            .flatMap(Collection::stream)
            .filter(each -> each.number() <= last)
            .toList();
    waiting.removeIf(each -> each.number() <= last);
    questions.removeIf(each -> each.number() <= last);
    return ready;
  }

  /** How many responses these purges removed here, as far as is known. */
  synchronized long count(long number) {
    return counts.getOrDefault(number, 0L);
  }

  /** An entry with purges. */
  static byte[] purges(List<PurgeOrder> orders) {
    byte[] octets = PurgeOrder.octets(orders);
    return ByteBuffer.allocate(1 + Long.BYTES + octets.length)
        .put(PURGES)
        .putLong(new SplittableRandom().nextLong(1, Long.MAX_VALUE))
        .put(octets)
        .array();
  }

  /** An entry that makes a node known, or forgotten. */
  static byte[] node(String name, boolean isKnown) {
    return ClusterEngine.octets(
        out -> {
          out.writeByte(NODE);
          out.writeBoolean(isKnown);
          out.writeUTF(name);
        });
  }

  /**
   * {@inheritDoc}
   *
   * @return the number of each purge of the entry
   * @throws IllegalStateException if a later release has written it: nothing goes on then
   */
  @Override
  public byte[] apply(byte[] entry) {
    byte[] answer;
    List<Waiting> ready;
    synchronized (this) {
      try {
        answer = Objects.requireNonNull(read(entry, false)).get();
      } catch (IOException unknown) {
        throw new IllegalStateException(
            "the log of the cluster goes on with what this release cannot read: "
                + unknown.getMessage(),
            unknown);
      }
      ready = ready();
    }
    ready.forEach(each -> each.action().run());
    return answer;
  }

  @Override
  public void check(byte[] entry) throws IOException {
    if (read(entry, true) == null) {
      throw new IOException("a purge that no node could carry out");
    }
  }

  /** What an entry does; null if it is one of ours, and a purge in it is about nothing. */
  private @Nullable Supplier<byte[]> read(byte[] entry, boolean isOurs) throws IOException {
    try (var in = new DataInputStream(new ByteArrayInputStream(entry))) {
      switch (in.readByte()) {
        case PURGES -> {
          long name = in.readLong();
          List<PurgeOrder> orders = PurgeOrder.read(in.readAllBytes());
          boolean isKnown = orders.stream().allMatch(order -> order.target() != null);
          return isOurs && !isKnown ? null : () -> purged(name, orders);
        }
        case NODE -> {
          boolean isKnown = in.readBoolean();
          String name = in.readUTF();
          return () -> named(isKnown, name);
        }
        case ConfigChanges.KIND -> {
          Supplier<byte[]> change = config.read(in);
          return () -> noted("configuration", change);
        }
        case LoggedValues.KIND -> {
          Supplier<byte[]> change = values.read(in);
          return () -> noted("value", change);
        }
        default -> throw new IOException("needs " + release(in));
      }
    }
  }

  private byte[] noted(String entry, Supplier<byte[]> change) {
    note(entry);
    return change.get();
  }

  private static String release(DataInputStream in) {
    try {
      String name = in.readUTF();
      return RELEASE.matcher(name).matches() ? "release " + name : "a later release";
    } catch (IOException none) {
      return "a later release";
    }
  }

  private byte[] purged(long name, List<PurgeOrder> orders) {
    if (log == 0) {
      follow(name);
    }
    List<Long> answer = new ArrayList<>();
    for (PurgeOrder order : orders) {
      Long before = numbers.get(order.id());
      answer.add(before == null ? add(last + 1, order) : before);
    }
    noteDone();
    note(answer.isEmpty() ? "purges" : "purges " + answer.getFirst() + " to " + answer.getLast());
    ByteBuffer octets = ByteBuffer.allocate(answer.size() * Long.BYTES);
    answer.forEach(octets::putLong);
    return octets.array();
  }

  private byte[] named(boolean isKnown, String name) {
    note((isKnown ? "node " : "forgotten node ") + name);
    Set<String> now = new TreeSet<>(nodes);
    if (isKnown) {
      now.add(name);
    } else {
      now.remove(name);
    }
    nodes = Collections.unmodifiableSet(now);
    return new byte[0];
  }

  /** What was done by another log says nothing of this one. */
  private void follow(long name) {
    log = name;
    if (done.log() != name) {
      if (done.log() != 0) {
        local.clear();
      }
      done = new Place(name, 0);
      begun = 0;
    }
  }

  private long add(long number, PurgeOrder order) {
    keep(number, order);
    begun = Math.max(begun, number);
    if (number > done.number()) {
      counts.put(number, purge(number, order));
      done = new Place(log, number);
    }
    last = number;
    return number;
  }

  /** One that cannot be read here, or not carried out, purges everything. */
  long purge(long number, PurgeOrder order) {
    try {
      PurgeTarget target = order.target();
      if (target != null && order.isInvalidation()) {
        local.invalidate(order.names().getFirst());
        return 0;
      }
      if (target != null) {
        return local.purge(number, target, order.isSoft());
      }
      LOG.log(Level.ERROR, UNREAD, number);
    } catch (RuntimeException fault) {
      LOG.log(Level.ERROR, UNREAD.replace("{0}", Long.toString(number)), fault);
    }
    unread.increment();
    local.clear();
    return 0;
  }

  /** How many purges could not be read or carried out here, so that everything was purged. */
  public long unread() {
    return unread.sum();
  }

  private void keep(long number, PurgeOrder order) {
    int octets = PurgeOrder.octets(List.of(order)).length;
    kept.addLast(new Numbered(number, order, octets));
    numbers.put(order.id(), number);
    keptOctets += octets;
    while (kept.size() > KEPT_LIMIT || keptOctets > KEPT_LIMIT_BYTES) {
      Numbered oldest = kept.removeFirst();
      numbers.remove(oldest.order().id());
      keptOctets -= oldest.octets();
    }
  }

  private void noteDone() {
    Place now = done;
    local.whenKept(() -> file.writeSoon(now));
  }

  @Override
  public synchronized byte[] save() {
    saved = last;
    return ClusterEngine.octets(this::write);
  }

  private void write(DataOutputStream out) throws IOException {
    out.writeLong(log);
    out.writeLong(last);
    out.writeInt(nodes.size());
    for (String node : nodes) {
      out.writeUTF(node);
    }
    out.writeInt(kept.size());
    for (Numbered purge : kept) {
      out.writeLong(purge.number());
      purge.order().write(out);
    }
    config.save(out);
    values.save(out);
  }

  @Override
  public void load(byte[] saved) {
    List<Waiting> ready;
    synchronized (this) {
      log = 0;
      last = 0;
      keptOctets = 0;
      kept.clear();
      numbers.clear();
      nodes = Set.of();
      entries.clear();
      config.clear();
      values.clear();
      if (saved.length > 0) {
        try (var in = new DataInputStream(new ByteArrayInputStream(saved))) {
          read(in);
        } catch (IOException damaged) {
          throw new IllegalStateException("a state of the cluster is damaged", damaged);
        }
      }
      ready = ready();
    }
    ready.forEach(each -> each.action().run());
  }

  private void read(DataInputStream in) throws IOException {
    long name = in.readLong();
    saved = in.readLong();
    begun = saved;
    Set<String> known = new TreeSet<>();
    for (int i = in.readInt(); i > 0; i--) {
      known.add(in.readUTF());
    }
    nodes = Collections.unmodifiableSet(known);
    if (name != 0) {
      follow(name);
      begun = Math.max(saved, done.number());
    }
    int count = in.readInt();
    if (done.number() < saved - count) {
      local.clear();
      done = new Place(log, saved - count);
    }
    last = saved - count;
    for (int i = 0; i < count; i++) {
      add(in.readLong(), PurgeOrder.read(in));
    }
    config.load(in);
    values.load(in);
    noteDone();
  }
}
